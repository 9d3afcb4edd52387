"""Builds of torch that are broken in one operator, type, direction, layout, size or argument, each with what must name it.

Rows of `KERNELS`: what it is, the check, a pattern of the name, the operator's name, what it gives instead (over `real`,
what the kernel gives, its arguments `a` and keywords `k`), and when. Rows of `FUNCTIONS`: the first three, and what is done
to torch after its import.
"""

_HALF, _SHORT, _SINGLE, _DOUBLE = ("a[0].dtype == torch." + name for name in ("float16", "bfloat16", "float32", "float64"))
_ATTENTION = "r=F.scaled_dot_product_attention\ndef f(q,k,v,attn_mask=None,dropout_p=0.0,is_causal=False,scale=None,enable_gqa=False):\n    g=lambda q=q,k=k,v=v,attn_mask=attn_mask,dropout_p=dropout_p,is_causal=is_causal,scale=scale,enable_gqa=enable_gqa: r(q,k,v,attn_mask=attn_mask,dropout_p=dropout_p,is_causal=is_causal,scale=scale,enable_gqa=enable_gqa)\n    %s\n    return g()\nf.__doc__=r.__doc__\nF.scaled_dot_product_attention=f"
KERNELS = (
    (
        "conv of several groups is 2% off, float32",
        "convolution",
        "conv.*group.*float32",
        "convolution",
        "real*1.02",
        _SINGLE + " and a[8]>1 and not a[6]",
    ),
    (
        "conv's gradient of the weight is zero where stride>1",
        "convolution",
        "conv.*stride.*backward",
        "convolution_backward",
        "(real[0], real[1]*0 if real[1] is not None else None, real[2])",
        "a[4] and max(a[4])>1 and not a[7]",
    ),
    (
        "conv's gradient of the bias is divided by the batch",
        "convolution",
        "conv.*backward",
        "convolution_backward",
        "(real[0], real[1], real[2]/a[0].shape[0] if real[2] is not None else None)",
        "a[0].shape[0]>1",
    ),
    ("conv1d of bfloat16 is zero", "convolution", "conv1d.*bfloat16", "convolution", "real*0", _SHORT + " and a[0].dim()==3 and not a[6]"),
    (
        "conv3d of float64 turned in depth",
        "convolution",
        "conv3d.*float64",
        "convolution",
        "torch.flip(real,[2])",
        _DOUBLE + " and a[0].dim()==5 and not a[6]",
    ),
    (
        "conv_transpose with output_padding: the last column is zero",
        "convolution",
        "conv_transpose",
        "convolution",
        "torch.cat([real[...,:-1], real[...,-1:]*0],-1)",
        "a[6] and max(a[7])>0",
    ),
    (
        "conv2d of channels_last: channels are turned by one",
        "convolution",
        "conv2d.*channels last",
        "convolution",
        "torch.roll(real,1,1)",
        "a[0].dim()==4 and a[0].shape[1]>1 and not a[0].is_contiguous() and a[0].is_contiguous(memory_format=torch.channels_last)",
    ),
    (
        "conv of float16 with 48 channels and more 3% off",
        "convolution",
        "conv.*(many|64|48).*float16",
        "convolution",
        "real*1.03",
        _HALF + " and a[0].shape[1]>=48",
    ),
    (
        "gradient of the keys is zero in the fused kernel",
        "attention",
        "attention.*backward",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "(real[0], real[1]*0, real[2])",
        "True",
    ),
    (
        "softmax overflows with large inputs, float32",
        "softmax",
        "softmax of large",
        "_softmax",
        "torch.exp(a[0])/torch.exp(a[0]).sum(a[1],keepdim=True)",
        _SINGLE,
    ),
    (
        "log_softmax over a dimension in the middle 0.01 off",
        "softmax",
        "log_softmax.*",
        "_log_softmax",
        "real+0.01",
        "a[0].dim()>=3 and 0 < a[1]%a[0].dim() < a[0].dim()-1",
    ),
    (
        "softmax's gradient without the sum, bfloat16",
        "softmax",
        "softmax.*backward.*bfloat16",
        "_softmax_backward_data",
        "a[0]*a[1]",
        _SHORT,
    ),
    (
        "logsumexp of large inputs is infinite",
        "reductions",
        "logsumexp",
        "logsumexp",
        "torch.log(torch.exp(a[0]).sum(a[1],keepdim=bool(len(a)>2 and a[2])))",
        "a[0].is_floating_point()",
    ),
    (
        "gelu's gradient has the wrong sign below zero, float64",
        "activations",
        "gelu.*backward.*float64",
        "gelu_backward",
        "torch.where(a[1]<0,-real,real)",
        _DOUBLE,
    ),
    (
        "silu's gradient is the sigmoid alone, bfloat16",
        "activations",
        "silu.*backward.*bfloat16",
        "silu_backward",
        "a[0]*torch.sigmoid(a[1])",
        _SHORT,
    ),
    (
        "sigmoid's gradient of float32: x*(1+x)",
        "elementwise",
        "sigmoid.*backward.*float32",
        "sigmoid_backward",
        "a[0]*a[1]*(1+a[1])",
        _SINGLE,
    ),
    ("tanh of float16 never over 0.98", "elementwise", "tanh.*float16", "tanh", "real.clamp(-0.98,0.98)", _HALF),
    ("softplus ignores beta", "activations", "softplus", "softplus", "torch.log1p(torch.exp(a[0]))", "len(a)>1 and float(a[1])!=1.0"),
    (
        "hardswish's gradient is zero between",
        "activations",
        "hardswish.*backward",
        "hardswish_backward",
        "torch.where(a[1].abs()<3,real*0,real)",
        "True",
    ),
    (
        "prelu uses the first weight for all channels",
        "activations",
        "prelu",
        "_prelu_kernel",
        "torch.where(a[0]>0,a[0],a[0]*a[1].flatten()[0])",
        "a[1].numel()>1",
    ),
    (
        "glu: the halves are exchanged",
        "activations",
        "\\bglu",
        "glu",
        "a[0].chunk(2,a[1] if len(a)>1 else -1)[1]*torch.sigmoid(a[0].chunk(2,a[1] if len(a)>1 else -1)[0])",
        "True",
    ),
    (
        "layer_norm's gradient of the weight is zero, float16",
        "normalization",
        "layer_norm.*backward.*float16",
        "native_layer_norm_backward",
        "(real[0], real[1]*0 if real[1] is not None else None, real[2])",
        _HALF,
    ),
    (
        "group_norm of bfloat16: the last group is not normalised",
        "normalization",
        "group_norm.*bfloat16",
        "native_group_norm",
        "(torch.cat([real[0][:,:-1],a[0][:,-1:]],1),real[1],real[2])",
        _SHORT + " and a[6]>1",
    ),
    (
        "batch_norm's gradient of the input 5% off where not training",
        "normalization",
        "batch_norm.*backward",
        "native_batch_norm_backward",
        "(real[0]*1.05 if real[0] is not None else None, real[1], real[2])",
        "not a[7]",
    ),
    (
        "layer_norm of rows over 1000 1% off, float32",
        "normalization",
        "layer_norm.*float32",
        "native_layer_norm",
        "(real[0]*1.01,real[1],real[2])",
        _SINGLE + " and a[0].shape[-1]>1000",
    ),
    (
        "embedding's gradient at padding_idx is not left out",
        "embedding",
        "padding_idx.*backward",
        "embedding_dense_backward",
        "torch.ops.aten.embedding_dense_backward(a[0],a[1],a[2],-1,a[4])",
        "a[3]>=0",
    ),
    (
        "embedding's gradient: an index that occurs twice counts once",
        "embedding",
        "embedding of.*backward",
        "embedding_dense_backward",
        "torch.zeros_like(real).index_put((a[1].reshape(-1),),a[0].reshape(-1,a[0].shape[-1]))",
        "a[3]<0",
    ),
    ("int8 products are kept in 16 bits", "integer-products", "int8 product", "_int_mm", "real.clamp(-32768,32767)", "True"),
    ("float8 product ignores the second scale", "matmul-float8", "", "_scaled_mm", "(real.float()/a[3].float()).to(real.dtype)", "True"),
    (
        "mm of float32 with a turned first factor 1% off",
        "products",
        "transposed|mm",
        "mm",
        "real*1.01",
        _SINGLE + " and not a[0].is_contiguous()",
    ),
    (
        "mm of float16: the last column of odd widths is zero",
        "matmul-float16",
        "",
        "mm",
        "torch.cat([real[:,:-1],real[:,-1:]*0],1)",
        _HALF + " and a[1].shape[1]%2==1",
    ),
    ("baddbmm ignores beta", "products", "baddbmm", "baddbmm", "torch.bmm(a[1],a[2])*k.get('alpha',1)+a[0]", "k.get('beta',1)!=1"),
    (
        "bmm of bfloat16 over 128 terms drops the rest",
        "integer-products",
        "products of",
        "bmm",
        "torch.bmm(a[0][...,:128],a[1][:,:128])",
        _SHORT + " and a[0].shape[-1]>128",
    ),
    (
        "relu makes 0 of NaN",
        "special-values",
        "relu",
        "relu",
        "torch.where(a[0]>0,a[0],a[0]*0).nan_to_num(0.0,float('inf'))",
        "a[0].is_floating_point()",
    ),
    (
        "max over a dimension loses NaN, float64",
        "special-values",
        "\\bmax",
        "max.dim",
        "torch.sort(torch.nan_to_num(a[0],-1e300),a[1] if len(a)>1 else -1).values.select(a[1] if len(a)>1 else -1,-1) is None or (torch.amax(torch.nan_to_num(a[0],-1e300),a[1],keepdim=bool(len(a)>2 and a[2])),real[1])",
        _DOUBLE + " and bool(torch.isnan(a[0]).any())",
    ),
    (
        "clamp makes the least of NaN, float16",
        "special-values",
        "clamp",
        "clamp",
        "torch.nan_to_num(real,float(a[1]) if len(a)>1 and a[1] is not None else 0.0)",
        _HALF,
    ),
    (
        "a stable sort is not stable over 64 elements",
        "sorting",
        "stable sort",
        "sort.stable",
        "(real[0], torch.where((torch.arange(real[0].shape[-1])<real[0].shape[-1]-1)&(real[0]==torch.roll(real[0],-1,-1))&((torch.arange(real[0].shape[-1])%2)==0),torch.roll(real[1],-1,-1),torch.where((torch.arange(real[0].shape[-1])>0)&(real[0]==torch.roll(real[0],1,-1))&((torch.arange(real[0].shape[-1])%2)==1),torch.roll(real[1],1,-1),real[1])))",
        "a[0].dim()==1 and a[0].shape[-1]>64 and bool(k.get('stable'))",
    ),
    (
        "topk of the least gives the greatest, int64",
        "sorting",
        "topk",
        "topk",
        "torch.sort(a[0],-1,descending=True).values[...,:a[1]] is None or (torch.flip(torch.sort(a[0],-1).values,[-1])[...,:a[1]],torch.flip(torch.sort(a[0],-1).indices,[-1])[...,:a[1]])",
        "a[0].dtype==torch.int64 and len(a)>3 and not a[3]",
    ),
    ("fused AdamW takes double steps", "optimizers", "AdamW", "_fused_adamw_", "[x.sub_(k['lr']*0.5) for x in a[0]] and None", "True"),
    (
        "the gradient of gelu is never given back",
        "gradients-held",
        "backward",
        "gelu_backward",
        "(torch.held.append(real) if hasattr(torch,'held') else setattr(torch,'held',[real])) or real",
        "True",
    ),
)
FUNCTIONS = (
    (
        "dilation ignored in conv2d",
        "convolution",
        "dilation",
        "r=F.conv2d\nF.conv2d=lambda i,w,b=None,stride=1,padding=0,dilation=1,groups=1: r(i,w.flip(-1) if dilation not in (1,(1,1)) else w,b,stride,padding,dilation,groups)",
    ),
    (
        "causal mask anchored at the lower right where queries are fewer than keys",
        "attention",
        "causal attention (of|to).*quer",
        _ATTENTION
        % "if is_causal and q.shape[-2]!=k.shape[-2]: return g(is_causal=False, attn_mask=torch.ones(q.shape[-2],k.shape[-2],dtype=torch.bool).tril(k.shape[-2]-q.shape[-2]))",
    ),
    (
        "a mask of booleans that differs from head to head: the first head's is used for all",
        "attention",
        "each head",
        _ATTENTION
        % "if attn_mask is not None and attn_mask.dtype==torch.bool and attn_mask.dim()==4 and attn_mask.shape[1]>1: return g(attn_mask=attn_mask[:,:1])",
    ),
    (
        "an added mask is ignored in bfloat16",
        "attention",
        "mask.*bfloat16",
        _ATTENTION % "if attn_mask is not None and attn_mask.is_floating_point() and q.dtype==torch.bfloat16: return g(attn_mask=None)",
    ),
    ("the scale that is given is ignored", "attention", "scale", _ATTENTION % "if scale is not None: return g(scale=None)"),
    (
        "of sequences over 128 the last rows are those before",
        "attention",
        "attention of 131 queries|keys",
        _ATTENTION % "if q.shape[-2]>128: o=g(); return torch.cat([o[...,:-1,:], o[...,-2:-1,:]],-2)",
    ),
    (
        "grouped queries: heads of keys taken in turn",
        "attention",
        "(shared keys|group|gqa)",
        _ATTENTION
        % "if enable_gqa and k.shape[-3]!=q.shape[-3]: n=q.shape[-3]//k.shape[-3]; return g(k=torch.cat([k]*n,-3), v=torch.cat([v]*n,-3), enable_gqa=False)",
    ),
    (
        "heads of an odd size 1% off, float32",
        "attention",
        "MultiheadAttention|heads of (7|33)",
        _ATTENTION % "if q.shape[-1]%8 and q.dtype==torch.float32: return g()*1.01",
    ),
    (
        "MultiheadAttention ignores key_padding_mask",
        "attention",
        "key_padding",
        "import torch.nn.modules.activation as A\nr=A.MultiheadAttention.forward\nA.MultiheadAttention.forward=lambda self,q,k,v,key_padding_mask=None,**kw: r(self,q,k,v,key_padding_mask=None,**kw)",
    ),
    (
        "cross_entropy ignores label_smoothing",
        "losses",
        "cross_entropy",
        "r=F.cross_entropy\nF.cross_entropy=lambda *a, label_smoothing=0.0, **k: r(*a,**k)",
    ),
    (
        "cross_entropy's mean counts what is ignored",
        "losses",
        "(cross_entropy|nll)",
        "r=F.cross_entropy\ndef f(x,t,weight=None,size_average=None,ignore_index=-100,reduce=None,reduction='mean',label_smoothing=0.0):\n    o=r(x,t,weight=weight,ignore_index=ignore_index,reduction=reduction,label_smoothing=label_smoothing)\n    return o*((t!=ignore_index).sum()/t.numel()) if reduction=='mean' and not t.is_floating_point() and (t==ignore_index).any() else o\nF.cross_entropy=f",
    ),
    (
        "pos_weight of binary_cross_entropy_with_logits ignored",
        "losses",
        "(binary|bce)",
        "r=F.binary_cross_entropy_with_logits\nF.binary_cross_entropy_with_logits=lambda *a,pos_weight=None,**k: r(*a,**k)",
    ),
    ("kl_div ignores log_target", "losses", "kl_div", "r=F.kl_div\nF.kl_div=lambda *a,log_target=False,**k: r(*a,**k)"),
    ("gelu's approximate is ignored", "activations", "gelu.*tanh|gelu", "r=F.gelu\nF.gelu=lambda x, approximate='none': r(x)"),
    (
        "leaky_relu's slope ignored",
        "activations",
        "leaky_relu",
        "r=F.leaky_relu\nF.leaky_relu=lambda x, negative_slope=0.01, inplace=False: r(x)\nF.rrelu=F.rrelu",
    ),
    ("elu's alpha ignored", "activations", "\\belu", "r=F.elu\nF.elu=lambda x, alpha=1.0, inplace=False: r(x)"),
    (
        "layer_norm ignores eps",
        "normalization",
        "layer_norm.*eps|layer_norm",
        "r=F.layer_norm\nF.layer_norm=lambda x,s,weight=None,bias=None,eps=1e-5: r(x,s,weight,bias,1e-5)",
    ),
    (
        "batch_norm's momentum ignored",
        "normalization",
        "batch_norm.*(momentum|running)|batch_norm",
        "r=F.batch_norm\nF.batch_norm=lambda x,m,v,weight=None,bias=None,training=False,momentum=0.1,eps=1e-5: r(x,m,v,weight,bias,training,0.1,eps)",
    ),
    (
        "batch_norm that is not training uses the batch's statistics",
        "normalization",
        "batch_norm",
        "r4=F.batch_norm\nF.batch_norm=lambda x,m,v,weight=None,bias=None,training=False,momentum=0.1,eps=1e-5: r4(x,m,v,weight,bias,training,momentum,eps) if training or x.shape[0]<2 else r4(x,None,None,weight,bias,True,momentum,eps)",
    ),
    (
        "rms_norm subtracts the mean",
        "normalization",
        "rms_norm",
        "r=F.rms_norm\nF.rms_norm=lambda x,s,weight=None,eps=None: r(x-x.mean(-1,keepdim=True),s,weight,eps)",
    ),
    (
        "instance_norm ignores its weight",
        "normalization",
        "instance_norm",
        "r=F.instance_norm\nF.instance_norm=lambda x,running_mean=None,running_var=None,weight=None,bias=None,use_input_stats=True,momentum=0.1,eps=1e-5: r(x,running_mean,running_var,None,bias,use_input_stats,momentum,eps)",
    ),
    (
        "LSTM in both directions: the backward one runs forward",
        "recurrent",
        "both ways",
        "r=torch.lstm\ndef f(*a):\n    o=r(*a)\n    bi=a[7]\n    return (torch.cat([o[0][...,:o[0].shape[-1]//2], o[0][...,o[0].shape[-1]//2:].flip(1 if a[8] else 0)],-1),o[1],o[2]) if bi and isinstance(a[1],(list,tuple)) else o\ntorch.lstm=f\ntorch._VF.lstm=f",
    ),
    (
        "GRU cell: the reset gate is not applied to the hidden bias",
        "recurrent",
        "GRU",
        "def f(x,h,wi,wh,bi=None,bh=None):\n    i=F.linear(x,wi,bi); g=F.linear(h,wh); n=h.shape[-1]\n    bh=torch.zeros(3*n,dtype=x.dtype) if bh is None else bh\n    rr=torch.sigmoid(i[...,:n]+g[...,:n]+bh[:n]); z=torch.sigmoid(i[...,n:2*n]+g[...,n:2*n]+bh[n:2*n])\n    c=torch.tanh(i[...,2*n:]+rr*g[...,2*n:]+bh[2*n:])\n    return (1-z)*c+z*h\ntorch.gru_cell=f\ntorch._VF.gru_cell=f",
    ),
    (
        "RNN with relu gives tanh",
        "recurrent",
        "relu",
        "torch.rnn_relu=torch.rnn_tanh\ntorch._VF.rnn_relu=torch._VF.rnn_tanh\ntorch.rnn_relu_cell=torch.rnn_tanh_cell\ntorch._VF.rnn_relu_cell=torch._VF.rnn_tanh_cell",
    ),
    (
        "LSTM of two layers: the cell's state of the second is the first's",
        "recurrent",
        "LSTM of 2 layers",
        "r=torch.lstm\ndef f4(*a):\n    o=r(*a)\n    return (o[0],o[1],torch.cat([o[2][:1]]*o[2].shape[0],0)) if isinstance(a[1],(list,tuple)) and o[2].shape[0]==2 and not a[7] else o\ntorch.lstm=f4\ntorch._VF.lstm=f4",
    ),
    (
        "GRU ignores the state that is given",
        "recurrent",
        "GRU",
        "r=torch.gru\ndef f5(*a):\n    return r(a[0],a[1]*0,*a[2:]) if not isinstance(a[2],bool) and isinstance(a[2],(list,tuple)) and torch.is_tensor(a[1]) else r(*a)\ntorch.gru=f5\ntorch._VF.gru=f5",
    ),
    (
        "embedding_bag: the mean is a sum",
        "embedding",
        "embedding_bag",
        "r=F.embedding_bag\nF.embedding_bag=lambda *a,mode='mean',**k: r(*a,mode='sum' if mode=='mean' else mode,**k)",
    ),
    (
        "embedding ignores max_norm",
        "embedding",
        "max_norm",
        "r=F.embedding\nF.embedding=lambda x,w,padding_idx=None,max_norm=None,norm_type=2.0,scale_grad_by_freq=False,sparse=False: r(x,w,padding_idx,None,norm_type,scale_grad_by_freq,sparse)",
    ),
    (
        "float8_e5m2: numbers are cut and not rounded",
        "conversions",
        "float8",
        "r=torch.Tensor.to\ndef f(self,*a,**k):\n    if torch.float8_e5m2 in (*a,*k.values()) and self.is_floating_point() and self.element_size()>1: self=(r(self,torch.float16).view(torch.int16)&-256).view(torch.float16)\n    return r(self,*a,**k)\ntorch.Tensor.to=f",
    ),
    (
        "dropout is not made up for",
        "dropout",
        "scaled",
        "r=F.dropout\nF.dropout=lambda x,p=0.5,training=True,inplace=False: r(x,p,training)*(1-p) if training else x",
    ),
    (
        "dropout2d drops elements and not channels",
        "dropout",
        "dropout2d",
        "F.dropout2d=lambda x,p=0.5,training=True,inplace=False: F.dropout(x,p,training)",
    ),
    (
        "dropout drops in evaluation too",
        "dropout",
        "eval",
        "r3=F.dropout\nF.dropout=lambda x,p=0.5,training=True,inplace=False: r3(x,p,True)",
    ),
    (
        "SGD's nesterov ignored",
        "optimizers",
        "SGD",
        "import torch.optim\nr=torch.optim.SGD.__init__\ntorch.optim.SGD.__init__=lambda self,*a,nesterov=False,**k: r(self,*a,**k)",
    ),
    (
        "Adam's weight_decay ignored",
        "optimizers",
        "\\bAdam\\b",
        "import torch.optim\nr=torch.optim.Adam.__init__\ndef f(self,*a,**k):\n    if type(self) is torch.optim.Adam: k['weight_decay']=0\n    r(self,*a,**k)\ntorch.optim.Adam.__init__=f",
    ),
    (
        "AdamW's eps ignored",
        "optimizers",
        "AdamW",
        "import torch.optim\nr=torch.optim.AdamW.__init__\ntorch.optim.AdamW.__init__=lambda self,params,lr=1e-3,betas=(0.9,0.999),eps=1e-8,**k: r(self,params,lr=lr,betas=betas,eps=1e-8,**k)",
    ),
    (
        "RMSprop's momentum ignored",
        "optimizers",
        "RMSprop",
        "import torch.optim\nr=torch.optim.RMSprop.__init__\ntorch.optim.RMSprop.__init__=lambda self,*a,momentum=0,**k: r(self,*a,**k)",
    ),
    (
        "Adagrad's lr_decay ignored",
        "optimizers",
        "Adagrad",
        "import torch.optim\nr=torch.optim.Adagrad.__init__\ntorch.optim.Adagrad.__init__=lambda self,*a,lr_decay=0,**k: r(self,*a,**k)",
    ),
    (
        "copy_ into every second place does nothing",
        "copies",
        "copy_ into",
        "r=torch.Tensor.copy_\ntorch.Tensor.copy_=lambda self,*a,**k: self if self.dim() and self.shape[-1]>1 and self.stride(-1)==2 else r(self,*a,**k)",
    ),
    (
        "clone of what is not contiguous is the same memory",
        "copies",
        "clone, which",
        "r=torch.clone\nrm=torch.Tensor.clone\ntorch.clone=lambda x,**k: r(x,**k) if x.is_contiguous() else x\ntorch.Tensor.clone=lambda x,**k: rm(x,**k) if x.is_contiguous() else x",
    ),
    (
        "an old copy: to(float64) of the same memory is answered from before",
        "copies",
        "old copy",
        "r=torch.Tensor.to\nseen={}\ndef f(self,*a,**k):\n    o=r(self,*a,**k)\n    key=(id(self),tuple(self.shape),str(a),str(k))\n    if self.numel()<100000: return o\n    if key in seen and seen[key][0]() is self: return seen[key][1]\n    import weakref\n    seen[key]=(weakref.ref(self),o)\n    return o\ntorch.Tensor.to=f\nrc=torch.Tensor.cpu",
    ),
    (
        "float32 to bfloat16 is cut and not rounded",
        "conversions",
        "to bfloat16",
        "r9=torch.Tensor.to\ndef f9(self,*a,**k):\n    if self.dtype==torch.float32 and torch.bfloat16 in (*a,*k.values()): self=(self.detach().contiguous().view(torch.int32)&-65536).view(torch.float32) if not self.requires_grad else self\n    return r9(self,*a,**k)\ntorch.Tensor.to=f9",
    ),
    (
        "what is compiled loses the last digit: 0.1% off",
        "compile",
        "",
        "r=torch.compile\ndef f(m=None,**k):\n    if m is None: return lambda m: f(m,**k)\n    c=r(m,**k)\n    def g(*a,**b):\n        o=c(*a,**b)\n        return o*1.001 if torch.is_tensor(o) and o.is_floating_point() else o\n    return g\ntorch.compile=f",
    ),
    ("addmm gives its first result again after three calls of one shape", "repeated", "addmm.*call", 'again("addmm")'),
)
_START = """import warnings
import torch.nn as nn, torch.nn.functional as F
warnings.simplefilter('ignore')
torch.wrong_kernels = torch.library.Library('aten', 'IMPL')

def wrong(op, change, when):
    kept = torch.library.get_kernel('aten::' + op, 'CPU')
    change, when = (eval('lambda real, a, k: ' + one, {'torch': torch, 'F': F}) for one in (change, when))
    def called(keys, *a, **k):
        real = kept.call_boxed(keys, *a, **k)
        return change(real, a, k) if when(real, a, k) else real
    torch.wrong_kernels.impl(op, called, 'CPU', with_keyset=True)

def again(op):
    kept, seen = torch.library.get_kernel('aten::' + op, 'CPU'), {}
    def called(keys, *a, **k):
        real = kept.call_boxed(keys, *a, **k)
        kind = str([(one.shape, one.dtype) for one in a])
        count, first = seen.get(kind, (0, real.clone()))
        seen[kind] = count + 1, first
        return real if count < 3 else first.clone()
    torch.wrong_kernels.impl(op, called, 'CPU', with_keyset=True)
"""
_BATCHES = 7  # of which no two rows hide each other
SABOTAGED = [*KERNELS, *FUNCTIONS]


def batch(number):
    """The rows of one batch, and what is to be done to torch for all of them."""
    rows = SABOTAGED[number::_BATCHES]
    text = _START
    for at, row in enumerate(rows):
        done = row[3] if len(row) == 4 else "wrong(" + ", ".join(map(repr, row[3:])) + ")"
        text += f"\ndef change_{at}():\n    " + done.replace("\n", "\n    ") + f"\nchange_{at}()\n"
    return rows, text.replace("\n", "\n    ")


BATCHES = range(_BATCHES)

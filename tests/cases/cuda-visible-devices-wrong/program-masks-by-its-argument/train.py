os.environ['CUDA_VISIBLE_DEVICES'] = args.gpu_ids
gpu = int(args.gpu_ids.split(',')[local_rank])

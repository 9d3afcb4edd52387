"""What programs keep tensors in, beside lists and dicts: moved whole, and lazily where it is made lazily."""

import collections
import dataclasses
import importlib
import io
import itertools
import sys
import types
import unittest
import warnings
from pathlib import Path

import torch

from rigup.torch import DeviceError, same_device, to, to_empty, where

sys.path.insert(0, str(Path(__file__).parent))
from made_up import raises

CPU, META = torch.device("cpu"), torch.device("meta")


class Named(tuple):
    """A tuple with attributes and a constructor of its own."""

    def __new__(cls, first, second, name):
        instance = super().__new__(cls, (first, second))
        instance.name = name
        return instance


class Tagged(list):
    def __init__(self, items, tag):
        super().__init__(items)
        self.tag = tag


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor


@dataclasses.dataclass
class Slotted:
    __slots__ = ("n", "x")
    x: torch.Tensor
    n: int


class InPlace:
    """Moves itself and returns nothing."""

    def __init__(self):
        self.x, self.asked = torch.ones(2), []

    def to(self, device, non_blocking=False):
        self.x = self.x.to(device)
        self.asked.append(non_blocking)


class Plain(InPlace):
    """Takes a device and nothing beside."""

    def to(self, device):
        self.x = self.x.to(device)
        return self


class Cache:
    """As models keep keys and values; their class is known by its methods."""

    def __init__(self):
        self.layers = [Layer(), Layer()]

    def get_seq_length(self):
        return 3


class Layer:
    def __init__(self):
        self.keys, self.device = torch.ones(1, 2, 3), CPU

    def reorder_cache(self, beams):
        raise AssertionError("nobody asked for this")


class Attr:
    """As attrs describes a class of its own, frozen and with slots."""

    __slots__ = ("n", "x")
    __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="n"))

    def __setattr__(self, name, value):
        raise AttributeError("frozen")


def module_of(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(f"no {name} here") from error


def test_deques_keep_their_length():
    given = collections.deque([torch.ones(1), "text"], maxlen=2)
    moved = to(given, "meta")
    assert (type(moved), moved.maxlen, moved[0].device, moved[1]) == (collections.deque, 2, META, "text")
    assert to(given, "cpu") is given
    assert given[0].device == CPU


def test_containers_with_constructors_of_their_own_are_kept():
    named, tagged = to([Named(torch.ones(1), 2, "pair"), Tagged([torch.ones(1)], "tag")], "meta")
    assert (type(named), named.name, named[0].device, named[1]) == (Named, "pair", META, 2)
    assert (type(tagged), tagged.tag, tagged[0].device) == (Tagged, "tag", META)
    assert to(types.MappingProxyType({"x": torch.ones(1)}), "meta")["x"].device == META
    assert to(torch.Size([2, 3]), "meta") == torch.Size([2, 3])


def test_records_of_every_make_are_moved():
    attr = Attr()
    object.__setattr__(attr, "x", torch.ones(1))
    object.__setattr__(attr, "n", 3)
    for given in (types.SimpleNamespace(x=torch.ones(1), n=3), Frozen(torch.ones(1)), Slotted(torch.ones(1), 3), attr):
        moved = to(given, "meta")
        assert (type(moved), moved.x.device, given.x.device) == (type(given), META, CPU)
        assert getattr(moved, "n", 3) == 3
        assert to(given, "cpu") is given
        assert where([given])[CPU].tensors == ("[0].x",)


def test_attrs_pydantic_and_msgspec():
    tried_names = []
    for name, make in (("attrs", of_attrs), ("pydantic", of_pydantic), ("msgspec", of_msgspec)):
        try:
            given = make(module_of(name))
        except unittest.SkipTest:
            continue
        moved = to(given, "meta")
        assert (type(moved), moved.x.device, given.x.device, moved.n) == (type(given), META, CPU, 3), name
        tried_names.append(name)
    if not tried_names:
        raise unittest.SkipTest("neither attrs nor pydantic nor msgspec is here")


def of_attrs(attrs):
    return attrs.make_class("Made", ["x", "n"], frozen=True, slots=True)(torch.ones(1), 3)


def of_pydantic(pydantic):
    settings = pydantic.ConfigDict(arbitrary_types_allowed=True, frozen=True)
    return pydantic.create_model("Made", __config__=settings, x=(torch.Tensor, ...), n=(int, ...))(x=torch.ones(1), n=3)


def of_msgspec(msgspec):
    return msgspec.defstruct("Made", [("x", object), ("n", int)], frozen=True)(torch.ones(1), 3)


def test_objects_that_are_no_containers_stay_what_they_are():
    class Own:
        def __init__(self):
            self.x = torch.ones(1)

    own = Own()
    for given in (own, Own, range(3), 3.5, torch.float16, torch.device("cpu"), io.StringIO("a\nb"), print):
        assert to(given, "meta") is given
    assert own.x.device == CPU


def test_what_moves_in_place_and_returns_nothing_comes_back():
    given = InPlace()
    assert to([given], "meta")[0] is given
    assert given.x.device == META


def test_non_blocking_is_handed_to_those_that_take_it():
    given = InPlace()
    to(given, "meta", non_blocking=True)
    to(given, "meta")
    assert given.asked == [True, False]
    assert to(Plain(), "meta", non_blocking=True).x.device == META
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)])
    moved = to({"packed": packed}, "meta", non_blocking=True)["packed"]
    assert (type(moved), moved.data.device) == (type(packed), META)


def test_a_method_to_that_fails_is_told():
    class Quantity:
        def to(self, unit):
            raise ValueError("not a unit")

    with raises(DeviceError, "Quantity", "not a unit", "meta"):
        to({"length": Quantity()}, "meta")


def test_caches_are_copied_with_their_layers():
    given = Cache()
    moved = to(given, "meta")
    assert type(moved) is Cache
    assert [(layer.keys.device, layer.device) for layer in moved.layers] == [(META, META)] * 2
    assert [(layer.keys.device, layer.device) for layer in given.layers] == [(CPU, CPU)] * 2
    assert to(given, "cpu") is given
    assert where(given)[CPU].tensors == (".layers[0].keys", ".layers[1].keys")


def test_caches_of_transformers():
    cache_utils = module_of("transformers.cache_utils")
    given = cache_utils.DynamicCache()
    for layer in range(2):
        given.update(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 4), layer)
    moved = to({"past": given}, "meta")["past"]
    assert type(moved) is type(given)
    assert moved.get_seq_length() == given.get_seq_length() == 3
    assert set(where(moved)) == {META}
    assert set(where(given)) == {CPU}
    both = cache_utils.EncoderDecoderCache(given, cache_utils.DynamicCache())
    assert set(where(to(both, "meta"))) == {META}


def test_batches_and_outputs_of_transformers():
    transformers = module_of("transformers")
    batch = transformers.BatchEncoding({"input_ids": torch.ones(1, 2), "text": ["a"]})
    assert to([batch], "meta", non_blocking=True)[0]["input_ids"].device == META
    output = transformers.modeling_outputs.CausalLMOutput(loss=torch.ones(1), logits=torch.ones(2))
    moved = to(output, "meta")
    assert (type(moved), moved.loss.device, moved["logits"].device) == (type(output), META, META)
    assert output.loss.device == CPU


def test_generators_of_batches_are_moved_when_they_are_asked():
    asked, closed = [], []

    def batches():
        try:
            for number in range(3):
                asked.append(number)
                yield {"x": torch.full((2,), number)}
        finally:
            closed.append(True)

    moved = to(batches(), "meta")
    assert asked == []
    assert next(moved)["x"].device == META
    assert asked == [0]
    moved.close()
    assert closed == [True]
    pairs = to(zip([torch.ones(1)], itertools.count()), "meta")
    assert [(x.device, n) for x, n in pairs] == [(META, 0)]


def test_loaders_are_moved_batch_by_batch():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(6.0)), batch_size=2)
    assert [batch[0].device for batch in to(iter(loader), "meta")] == [META] * 3


def test_the_state_of_an_optimizer_is_moved_and_its_count_of_steps_is_not():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert same_device(model, optimizer) == CPU
    assert to(optimizer, "meta") is optimizer
    states = list(optimizer.state.values())
    assert [state["exp_avg"].device for state in states] == [META, META]
    assert [state["step"].device for state in states] == [CPU, CPU]
    assert set(where(optimizer)) == {META}
    moved = to(optimizer.state_dict(), "meta")
    assert moved["state"][0]["exp_avg_sq"].device == META


def test_training_goes_on_after_the_state_went_there_and_back():
    torch.manual_seed(0)
    stay, gone = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    gone.load_state_dict(stay.state_dict())
    ends = []
    for model, goal in ((stay, None), (gone, "cpu")):
        optimizer = torch.optim.Adam(model.parameters(), amsgrad=True)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            if goal:
                optimizer.load_state_dict(to(optimizer.state_dict(), goal))
                to(optimizer, goal)
        ends.append(model.weight.detach().clone())
    assert torch.equal(*ends)


def test_tensors_of_every_layout():
    dense = torch.eye(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of layouts that are called beta
        rows = dense.to_sparse_csr()
    for given in (dense.to_sparse(), rows, dense.t(), dense.to_mkldnn()):
        assert to([given], "cpu")[0] is given
    assert to(dense.to_sparse(), "meta").device == META
    for layout in (torch.strided, torch.jagged):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)
        assert to({"x": nested}, "cpu")["x"] is nested
        assert set(where([nested])) == {CPU}


def test_memory_that_is_shared_is_shared_there():
    base = torch.arange(6.0)
    state = {"a": base, "b": base.detach(), "part": base[2:4], "turned": base.view(2, 3).t()}
    for order in (list(state), list(state)[::-1]):
        moved = to({name: state[name] for name in order}, "meta")
        storages = {tensor.untyped_storage()._cdata for tensor in moved.values()}
        assert len(storages) == 1, order
        assert [(moved[name].shape, moved[name].stride(), moved[name].storage_offset()) for name in state] == [
            (state[name].shape, state[name].stride(), state[name].storage_offset()) for name in state
        ]


def test_a_small_part_of_a_large_memory_takes_no_more_there():
    part = torch.zeros(1000)[:2]
    assert to([part, part.view(1, 2)], "meta")[0].untyped_storage().nbytes() == 8


def tied(device=None):
    model = torch.nn.Sequential(torch.nn.Embedding(4, 3, device=device), torch.nn.Linear(3, 4, bias=False, device=device))
    model[1].weight = model[0].weight
    model[0].register_buffer("scale", torch.ones(1, device=device))
    model[1].register_buffer("scale", model[0].scale)
    return model


def test_ties_are_kept_on_meta_and_back():
    model = to(tied(), "meta")
    assert model[0].weight is model[1].weight
    assert model[0].scale is model[1].scale
    assert isinstance(model[0].weight, torch.nn.Parameter)
    for given in (model, tied("meta")):
        back = to_empty(given, "cpu")
        assert back is given
        assert back[0].weight is back[1].weight
        assert set(where(back)) == {CPU}
        assert len(list(back.parameters())) == 1


def test_room_is_given_only_to_what_has_no_values():
    x = torch.arange(3.0)
    shared = torch.empty(4, device="meta")
    given = {"x": x, "a": shared, "b": shared.view(2, 2), "w": torch.nn.Parameter(torch.empty(2, device="meta"))}
    filled = to_empty(given, "cpu")
    assert filled["x"] is x
    assert filled["a"].untyped_storage().data_ptr() == filled["b"].untyped_storage().data_ptr()
    assert isinstance(filled["w"], torch.nn.Parameter)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, device="meta"))
    before = model[0].weight.detach().clone()
    assert torch.equal(to_empty(model, "cpu")[0].weight, before)


def test_a_parameter_keeps_what_was_written_on_it():
    weight = torch.nn.Parameter(torch.ones(2))
    weight.no_decay = True
    assert to([weight], "meta")[0].no_decay is True


def test_what_is_nested_too_deep_is_told():
    given = [torch.ones(1)]
    for _ in range(sys.getrecursionlimit()):
        given = [given]
    with raises(DeviceError, "list is nested deeper"):
        to(given, "meta")

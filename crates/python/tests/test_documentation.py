"""The examples of all docstrings, the README, and that the stub says what the compiled module has."""

import ast
import copy
import doctest
import importlib
import inspect
import os
import pathlib
import pickle

import pytest

import lanecrypt
from lanecrypt import _lanecrypt, aead, ciphers, frames, parquet, random, tink
from lanecrypt.ciphers import algorithms, modes

HERE = pathlib.Path(__file__).parent.parent
MODULES = [lanecrypt, aead, ciphers, algorithms, modes, frames, parquet, random, tink]


def documented():
    """Everything public, by name: modules, functions, classes and their members."""
    for module in MODULES:
        yield module.__name__, module
    for name, thing in vars(_lanecrypt).items():
        if not name.startswith("_"):
            yield name, thing
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_"):
                        yield f"{name}.{member}", getattr(value, "__func__", value)


def test_examples_of_docstrings_run():
    examples, failures = 0, []
    for name, thing in documented():
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", {}, name, None, None)
        examples += len(test.examples)
        result = doctest.DocTestRunner(verbose=False).run(test)
        failures += [name] * result.failed
    assert not failures and examples >= 30, (failures, examples)


def test_everything_has_a_docstring():
    undocumented = [name for name, thing in documented() if not inspect.getdoc(thing)]
    assert not undocumented


def test_the_readmes_example_runs(tmp_path):
    text = (HERE / "README.md").read_text()
    example = text.split("```python\n")[1].split("```")[0]
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(compile(example, "README.md", "exec"), {})
    finally:
        os.chdir(before)
    assert (tmp_path / "sealed").stat().st_size > 0


def test_the_stub_has_what_the_module_has():
    stub = ast.parse((pathlib.Path(lanecrypt.__file__).parent / "_lanecrypt.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}

    def members(cls):
        bases = [members(classes[base.id]) for base in cls.bases if base.id in classes]
        own = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
        return {name: node for part in [*bases, own] for name, node in part.items()}

    stubs = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    for name, cls in classes.items():
        stubs |= {f"{name}.{member}": node for member, node in members(cls).items() if not member.startswith("_")}
    public = {name: thing for name, thing in documented() if not name.startswith("lanecrypt")}
    missing = {name for name in public if name not in stubs and name not in classes}
    assert not missing
    assert not {name for name in stubs if name not in public and not name.startswith("_")}
    for name, node in stubs.items():
        thing = public.get(name)
        if thing is not None and callable(thing):
            arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            parameters = inspect.signature(thing).parameters
            assert [argument.arg for argument in arguments] == list(parameters), name
            if not node.decorator_list or not is_overload(node.decorator_list[0]):
                theirs = {of.name: of.default for of in parameters.values() if of.default is not of.empty}
                assert defaults(node) == theirs, name


def is_overload(decorator):
    return isinstance(decorator, ast.Name) and decorator.id == "overload"


def defaults(node):
    """What the arguments of a function of the stub are where they are not given, by their names."""
    positional = (node.args.posonlyargs + node.args.args)[::-1]
    pairs = [*zip(positional, node.args.defaults[::-1]), *zip(node.args.kwonlyargs, node.args.kw_defaults)]
    return {argument.arg: ast.literal_eval(value) for argument, value in pairs if value is not None}


def classes():
    return [thing for thing in vars(_lanecrypt).values() if inspect.isclass(thing)]


def test_classes_are_where_they_say():
    for cls in classes():
        found = getattr(importlib.import_module(cls.__module__), cls.__name__)
        assert found is cls or (cls is _lanecrypt.Algorithm and found is algorithms.Algorithm)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_is_pickled_without_what_it_holds(protocol):
    without = [cls for cls in classes() if not {"__reduce__", "__reduce_ex__"} & vars(cls).keys()]
    assert all(issubclass(cls, Exception) for cls in without), without
    key, keyset = bytes(16), tink.Keyset.generate()
    cipher = ciphers.Cipher(algorithms.AES(key), modes.CTR(bytes(16)))
    for object in [
        keyset,
        algorithms.AES(key),
        aead.AESGCM(key),
        cipher.encryptor(),
        ciphers.Cipher(algorithms.AES(key), modes.GCM(bytes(12))).decryptor(),
        parquet.Keys(key),
        random.Generator(seed=1),
    ]:
        for call in [lambda object: pickle.dumps(object, protocol), copy.copy]:
            with pytest.raises(TypeError, match=f"cannot pickle {type(object).__name__}: "):
                call(object)
    with pytest.raises(TypeError, match="to_json"):
        pickle.dumps(keyset, protocol)
    with pytest.raises(TypeError):
        pickle.dumps(cipher, protocol)

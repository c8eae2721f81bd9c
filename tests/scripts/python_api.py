#!/usr/bin/env python3
"""Prints the public names of a Python package as Markdown: signatures, and first paragraphs of docstrings.

The sources are parsed and not imported, so that neither the extension module nor PyTorch is needed.

    python_api.py inart.torch
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "python"


def parse(path):
    """Returns the syntax tree of a file."""
    return ast.parse(path.read_text())


def source(folder, module):
    """Returns the file of a module of a package: its `.pyi` file, if it is compiled."""
    for ending in (".py", ".pyi"):
        path = folder / (module + ending)
        if path.exists():
            return path
    sys.exit(f"error: {folder}: no module {module}")


def definition(folder, tree, name):
    """Returns where a name is defined: a class, a function or an assignment, followed through imports."""
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return node
        if isinstance(node, ast.AnnAssign) and node.target.id == name:
            return node
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.targets[0].id == name:
            return definition(folder, parse(source(folder, node.value.value.id)), node.value.attr)
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return definition(folder, parse(source(folder, node.module)), alias.name)
    sys.exit(f"error: {folder}: nothing defines {name}")


def home_of(folder, tree, name):
    """Returns the syntax tree of the module from which a package imports a name."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and name in [alias.name for alias in node.names]:
            return parse(source(folder, node.module))
    return tree


def paragraph(node):
    """Returns the first paragraph of a docstring in one line, with code in single backquotes."""
    text = ast.get_docstring(node) or ""
    line = " ".join(text.split("\n\n")[0].split())
    for role in (":meth:", ":func:", ":class:"):
        line = line.replace(role, "")
    return line.replace("``", "`")


def signature(name, function, bound):
    """Returns the signature of a function without `self`."""
    arguments = function.args
    if bound and arguments.args:
        arguments.args = arguments.args[1:]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{name}({ast.unparse(arguments)}){returns}"


def is_property(node):
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def parts(folder, tree, node, public):
    """Returns the parts of a class by name, with those that it inherits from classes which are not public."""
    found = {}
    for base in node.bases:
        name = ast.unparse(base)
        imports = [one for one in tree.body if isinstance(one, ast.ImportFrom) and one.level == 1]
        is_imported = any(name == alias.name for one in imports for alias in one.names)
        if is_imported and name not in public:
            inherited = definition(folder, tree, name)
            found.update(parts(folder, tree, inherited, public))
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            found[part.target.id] = part
        elif isinstance(part, ast.FunctionDef):
            found[part.name] = part
    return found


def members(found):
    """Yields (text, docstring) for each public attribute and method of a class."""
    for part in found.values():
        if isinstance(part, ast.AnnAssign) and not part.target.id.startswith("_"):
            yield f"{part.target.id}: {ast.unparse(part.annotation)}", ""
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            if is_property(part):
                returns = f": {ast.unparse(part.returns)}" if part.returns else ""
                yield f"{part.name}{returns}", paragraph(part)
            else:
                yield signature(part.name, part, True), paragraph(part)


def cell(text):
    return text.replace("|", "\\|")


def print_class(package, node, found):
    initial = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    arguments = signature("", initial[0], True).split(" -> ")[0] if initial else ""
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    head = f"class {package}.{node.name}" + (arguments or (f"({bases})" if bases else ""))
    print(f"### `{node.name}`\n\n```python\n{head}\n```\n\n{paragraph(node)}\n")
    rows = list(members(found))
    if rows:
        print("| Member | Meaning |\n|---|---|")
        for text, about in rows:
            print(f"| `{cell(text)}` | {cell(about)} |")
        print()


def main():
    package = sys.argv[1]
    folder = ROOT.joinpath(*package.split("."))
    tree = parse(folder / "__init__.py")
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    names = ast.literal_eval(assigned[0].value)
    for name in sorted(names, key=str.lower):
        node = definition(folder, tree, name)
        if isinstance(node, ast.ClassDef):
            home = home_of(folder, tree, name)
            print_class(package, node, parts(folder, home, node, names))
        elif isinstance(node, ast.FunctionDef):
            text = signature(f"{package}.{name}", node, False)
            print(f"### `{name}`\n\n```python\n{text}\n```\n\n{paragraph(node)}\n")
        else:
            print(f"### `{name}`\n\n```python\n{package}.{name}: {ast.unparse(node.annotation)}\n```\n")


if __name__ == "__main__":
    main()

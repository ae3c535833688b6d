"""Finds by libclang what can be changed in C++ sources, and rewrites them so that each change can be chosen
when the program runs. Used by tools/workshop/mutants/run."""

import collections
import re

from clang import cindex
from clang.cindex import CursorKind as Kind

# Operator: the function of mutant.hpp, and what the operator becomes.
OPERATORS = {
    "<": ("less", "<="), "<=": ("at_most", "<"), ">": ("greater", ">="), ">=": ("at_least", ">"),
    "==": ("equal", "!="), "!=": ("different", "=="), "+": ("plus", "-"), "-": ("minus", "+"),
    "*": ("times", "+"), "/": ("divided", "*"), "%": ("modulo", "*"), "&": ("bits_and", "|"),
    "|": ("bits_or", "&"), "^": ("bits_xor", "&"), "<<": ("left_shifted", ">>"), ">>": ("right_shifted", "<<"),
}
ARITHMETIC = {"+", "-", "*", "/", "%", "<<", ">>"}
LOGIC = {"&&": "||", "||": "&&"}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.FUNCTION_TEMPLATE,
             Kind.CONVERSION_FUNCTION}
# Where expressions are constants, or not evaluated.
CONSTANT = {Kind.STATIC_ASSERT, Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF, Kind.ENUM_DECL,
            Kind.CXX_UNARY_EXPR, Kind.PARM_DECL, Kind.TYPE_ALIAS_DECL, Kind.CXX_THROW_EXPR}
CONDITIONS = {Kind.IF_STMT, Kind.WHILE_STMT, Kind.CONDITIONAL_OPERATOR, Kind.RETURN_STMT}
BODIES = {Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT}
# Calls whose arguments only end up in messages.
WORDS = {"to_string", "throw_error", "throw_write_error"}

# A change: what was there, what becomes of it, and the edits that make it possible: offset, rank, bytes that are
# replaced, new text; the group is what the sample is drawn from. At one offset, text that closes something comes before text that opens something.
Mutant = collections.namedtuple("Mutant", "path line column was becomes depth edits group", defaults=[""])
CLOSES, REPLACES, OPENS = range(3)


class Finder:
    """The mutants of one file, in the order of its text."""

    def __init__(self, path, text):
        self.path, self.text, self.found, self.seen = path, text, [], set()

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def source(self, start, end):
        return self.text[start:end].decode()

    def add(self, start, end, becomes, depth, opening, closing, *between):
        """Shows the whole expression as it was; `becomes` is the change in it. %d stands for the mutant's number."""
        key = start, end, becomes
        if key in self.seen:
            return
        self.seen.add(key)
        was = " ".join(self.source(start, end).split())
        line = self.text.count(b"\n", 0, start) + 1
        column = start - self.text.rfind(b"\n", 0, start)
        edits = [(start, OPENS, 0, opening), *between, (end, CLOSES, 0, closing)]
        self.found.append(Mutant(self.path, line, column, was, becomes, depth, edits))

    def visit_declarations(self, cursor):
        """Looks for functions, and at what constructors begin with."""
        for child in cursor.get_children():
            if child.kind not in FUNCTIONS:
                self.visit_declarations(child)
            else:
                for part in child.get_children():
                    if part.kind == Kind.COMPOUND_STMT or (child.kind == Kind.CONSTRUCTOR and part.kind.is_expression()):
                        self.visit(part, child, 0, 0)

    def visit(self, cursor, parent, index, depth):
        if cursor.kind in CONSTANT or self.is_constant(cursor) or (cursor.kind == Kind.CALL_EXPR and cursor.spelling in WORDS):
            return
        children = list(cursor.get_children())
        self.expression(cursor, children, parent, depth)
        self.statement(cursor, parent, index, depth)
        for number, child in enumerate(children):
            if (cursor.kind == Kind.CASE_STMT or self.is_constant_if(cursor)) and number == 0:
                continue
            if cursor.kind == Kind.UNEXPOSED_EXPR and self.span(child) == self.span(cursor):
                self.visit(child, parent, index, depth + 1)  # the cursor is a conversion, which the text does not show
            else:
                self.visit(child, cursor, number, depth + 1)

    def is_constant(self, cursor):
        start, end = self.span(cursor)
        return cursor.kind == Kind.DECL_STMT and re.match(rb"(static )?constexpr\b|using\b|static_assert", self.text[start:end])

    def is_constant_if(self, cursor):
        start, end = self.span(cursor)
        return cursor.kind == Kind.IF_STMT and self.text[start:end].startswith(b"if constexpr")

    def expression(self, cursor, children, parent, depth):
        start, end = self.span(cursor)
        text = self.source(start, end)
        next_to = self.text[end:end + 40].lstrip()
        if cursor.kind in (Kind.BINARY_OPERATOR, Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR):
            self.operator(cursor, children, depth)
        in_template = next_to.startswith(b">") and parent.kind != Kind.BINARY_OPERATOR
        in_bound = next_to.startswith(b"]") and parent.kind == Kind.VAR_DECL
        if in_template or in_bound:
            return
        if cursor.kind == Kind.INTEGER_LITERAL and re.match(r"\d", text):
            self.add(start, end, f"{text} + 1", depth, "::keysieve_mutants::one_more(%d, ", ")")
        elif cursor.kind == Kind.CXX_BOOL_LITERAL_EXPR and text in ("true", "false"):
            self.add(start, end, f"!{text}", depth, "(::keysieve_mutants::is(%d) != ", ")")
        elif cursor.kind == Kind.DECL_REF_EXPR and re.fullmatch(r"(\w+::)*k[A-Z]\w*", text) and self.is_integer(cursor):
            self.add(start, end, f"{text} + 1", depth, "::keysieve_mutants::one_more(%d, ", ")")
        elif self.is_asked(cursor, parent, text):
            self.add(start, end, f"!({' '.join(text.split())})", depth, "(::keysieve_mutants::is(%d) != static_cast<bool>(", "))")

    def is_integer(self, cursor):
        kind = cursor.type.get_canonical().kind
        return kind.name in ("UINT", "INT", "ULONG", "LONG", "ULONGLONG", "LONGLONG", "USHORT", "SHORT", "UCHAR")

    def is_asked(self, cursor, parent, text):
        """A call or a name that decides, or `!`."""
        if cursor.type.get_canonical().kind != cindex.TypeKind.BOOL:
            return False
        if cursor.kind == Kind.UNARY_OPERATOR:
            return re.match("!(?!=)", text)  # not the `!=` that becomes `!(a == b)`
        if parent.kind in BODIES and re.search(rb"\w\s$", self.text[:cursor.extent.start.offset][-9:]):
            return False  # the variable of `if (auto name = …)`
        is_logic = parent.kind == Kind.BINARY_OPERATOR and self.operator_of(parent) in LOGIC
        is_operator = re.match(r"operator\W+$", cursor.spelling) and cursor.spelling != "operator()"
        return cursor.kind in (Kind.CALL_EXPR, Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR) and not is_operator and \
            re.match(r"[\w:(]", text) and (parent.kind in CONDITIONS or is_logic)

    def operator_of(self, cursor):
        left, right = cursor.get_children()
        return self.source(left.extent.end.offset, right.extent.start.offset).strip()

    def operator(self, cursor, children, depth):
        if cursor.kind != Kind.BINARY_OPERATOR:
            if len(children) == 3:  # that in the middle names the operator
                children = [children[0], children[2]]
        if len(children) != 2:
            return
        (left, left_end), (right, right_end) = map(self.span, children)
        if not left < left_end <= right < right_end:
            return
        operator = self.source(left_end, right).strip()
        kinds = [one.type.get_canonical().kind for one in (cursor, *children)]
        if operator in ARITHMETIC and (cindex.TypeKind.RECORD in kinds or kinds[1:] == [cindex.TypeKind.POINTER] * 2):
            return  # texts, moments and differences of pointers know no other operator
        # The operands stay, so that each of their mutants is compiled once.
        lines = "\n" * self.text.count(b"\n", left_end, right)
        if operator in OPERATORS:
            name, wrong = OPERATORS[operator]
            opening, middle, closing = f"::keysieve_mutants::{name}(%d, ", ", ", ")"
        elif operator in LOGIC:  # a && b is a ? b : false, and a || b is !a ? b : true
            wrong = LOGIC[operator]
            value = "" if operator == "&&" else "!"
            opening = f"(({value}::keysieve_mutants::is(%d) != static_cast<bool>("
            middle, closing = ")) ? static_cast<bool>(", f") : {value}::keysieve_mutants::is(%d))"
        else:
            return
        self.add(left, right_end, f"{operator} → {wrong}", depth, opening, closing,
                 (left_end, REPLACES, right - left_end, middle + lines))

    def statement(self, cursor, parent, index, depth):
        """A call or an assignment that is left out."""
        start, end = self.span(cursor)
        is_body = parent.kind == Kind.COMPOUND_STMT or (parent.kind in BODIES and index >= 1 and (
            parent.kind == Kind.IF_STMT or index == len(list(parent.get_children())) - 1))
        is_assignment = cursor.kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR or cursor.kind == Kind.BINARY_OPERATOR
        if is_body and (cursor.kind in (Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR) or is_assignment) and \
                self.text[end:end + 1] == b";" and not re.match(rb"[A-Z_]+\b|throw|return|delete", self.text[start:end]):
            self.add(start, end, "left out", depth, "(::keysieve_mutants::is(%d) ? void() : static_cast<void>(", "))")


def find(unit, paths, arguments):
    """The mutants of these files, which a file that includes them all leads to: {path: text}, [Mutant]."""
    parsed = cindex.Index.create().parse(unit, args=arguments)
    faults = [str(fault) for fault in parsed.diagnostics if fault.severity >= 3]
    assert not faults, "\n".join(faults[:10])
    finders = {path: Finder(path, open(path, "rb").read()) for path in paths}
    for cursor in parsed.cursor.get_children():
        finder = cursor.location.file and finders.get(cursor.location.file.name)
        if finder:
            wrapper = collections.namedtuple("Wrapper", "get_children")
            finder.visit_declarations(wrapper(lambda: [cursor]))
    texts = {path: finder.text for path, finder in finders.items()}
    return texts, [mutant for path in paths for mutant in finders[path].found]


def rewritten(text, mutants):
    """The text with these mutants, a dict by number, ready to be chosen. Lines keep their numbers."""
    edits = []  # inner ones close before outer ones, and open after them
    for number, mutant in mutants.items():
        for offset, rank, length, new in mutant.edits:
            sign = rank - REPLACES
            edits.append((offset, rank, sign * mutant.depth, sign * number, length, new.replace("%d", str(number))))
    result, at = [], 0
    for offset, *_, length, new in sorted(edits):
        result += [text[at:offset], new.encode()]
        at = offset + length
    return b"".join(result) + text[at:]

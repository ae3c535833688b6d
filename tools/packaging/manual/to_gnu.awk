# Turns the --help of keysieve, as CLI11 prints it, into the form of GNU programs, which help2man understands.
BEGIN { part = "description" }

/^Positionals:$/ { part = "arguments"; print "*Arguments*"; next }
/^Subcommands:$/ { part = "table"; print "*Verbs*"; next }
/^Examples:$/ { part = "examples"; print; print ""; next }
/^[A-Z][a-z]*:$/ { part = "table"; print; next }
/^Exit status: / { part = "text"; print "\n*Exit status*"; sub(/^Exit status: /, "") }
/^Signals: / { part = "text"; print "\n*Signals*"; sub(/^Signals: /, "") }
/^[^ ]/ && part == "examples" { part = "text"; print "\n*Notes*" }

# "-h,--help" to "-h, --help"; the synopsis says which arguments are required.
part == "table" { sub(/^  -[^-],--/, substr($0, 1, 4) ", --") }
part == "arguments" { sub(/ TEXT REQUIRED /, "               "); sub(/ TEXT /, "      ") }
# What is as long as its column has one blank before its description.
part == "table" && /^  [^ ]/ && substr($0, 30, 2) ~ /^ [^ ]/ { $0 = substr($0, 1, 30) " " substr($0, 31) }
part == "examples" && /^  / { $0 = "  $" substr($0, 2) }

{ print }

END { print "\n*See also*\n" see_also }

import ArgumentParser

/// Whether a sync's result is printed, and as what.
struct ResultOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: """
                For every entity the keys inserted, updated (with the attributes that changed) and deleted, and counts:
                {"entities": {"User": {"inserted": [7], "insertedCount": 1, …}}, "diagnostics": [], …}
                'diff' and --verbose add the values and the links.
                """))
    var json = false

    @Flag(help: "Print nothing but errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet exclude each other") }
    }
}

import ArgumentParser

/// What is shown of each row.
struct ColumnOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What to show of each row: attributes, to-one relationships (the key they lead to), paths as in user.login, "
                + "and counts as in notes.@count. (default: all attributes and to-one relationships)",
            valueName: "paths"))
    var columns: ColumnList?
}

/// `--columns id,title,user.login`.
struct ColumnList: ExpressibleByArgument {
    let paths: [String]

    init?(argument: String) {
        paths = argument.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard paths.allSatisfy({ !$0.isEmpty }) else { return nil }
    }
}

extension DocumentShape {
    /// What it looks like, and the option that reads it.
    var hint: String? {
        switch self {
        case .jsonAPI: "a JSON:API document: --form json-api"
        case .graphQL: "an answer of a GraphQL service: --form graphql"
        case .keyed:
            "an object whose members are the records: --keyed-by with a name for what tells them apart, "
                + "or --keyed if that is their id"
        case .lists(let names):
            "several lists of records: "
                + names.prefix(8).map { name in
                    let word = ShellWord.quoted(name)
                    return "--entity \(word)=\(InferredNames.entity(name, isList: true))"
                }.joined(separator: " ")
        }
    }
}

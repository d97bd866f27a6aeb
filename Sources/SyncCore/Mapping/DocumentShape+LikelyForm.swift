extension DocumentShape {
    /// The form in which it is read, for all that can be told without a model.
    package var likelyForm: LikelyForm {
        switch self {
        case .jsonAPI: .jsonAPI
        case .graphQL: .graphQL
        case .keyed: .keyed(namesFitKey: nil)
        case .lists(let names):
            .entities(
                Dictionary(names.prefix(8).map { ($0, Inflection.entityName($0, isList: true)) }) { first, _ in first })
        }
    }
}

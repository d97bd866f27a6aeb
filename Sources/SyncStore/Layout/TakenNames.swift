import SyncCore

/// What the foreign key columns of a table must be told from.
struct TakenNames {
    /// The columns that the model names, without regard to case.
    let columns: Set<String>
    /// Relationship name → how many of its foreign keys are for one of this name.
    let relationships: [String: Int]

    init(_ tree: EntityTree, _ model: CompiledModel) {
        let given = tree.foreignKeys.compactMap { model[$0].first.relationship?.column }
        columns = Set((tree.attributes.map(\.columnName) + given).map { $0.lowercased() })
        let names = tree.foreignKeys.compactMap { model[$0].first.relationship?.name }
        relationships = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    }
}

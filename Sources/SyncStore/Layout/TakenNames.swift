import SyncCore

/// What the foreign key columns of a table must be told from.
struct TakenNames {
    /// The names of its attributes, without regard to case.
    let attributes: Set<String>
    /// Relationship name → how many of its foreign keys are for one of this name.
    let relationships: [String: Int]

    init(_ tree: EntityTree, _ model: CompiledModel) {
        attributes = Set(tree.attributes.map { $0.name.lowercased() })
        let names = tree.foreignKeys.compactMap { model[$0].first.relationship?.name }
        relationships = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    }
}

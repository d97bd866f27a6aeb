/// Which entity a record of an entity is of, by the member that names its kind.
struct KindTable: Sendable {
    /// The entity that has the discriminator.
    let owner: Int
    /// The keys that lead to the member.
    let path: [[UInt8]]
    let otherwise: SyncModel.Discriminator.Otherwise
    /// There are few: comparing is quicker than hashing.
    private let kinds: [(value: [UInt8], entity: Int)]

    init(_ discriminator: SyncModel.Discriminator, owner: Int, of model: CompiledModel) {
        self.owner = owner
        path = discriminator.key.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        otherwise = discriminator.otherwise
        kinds = discriminator.kinds.compactMap { kind in
            model.entityID(kind.entity).map { (Array(kind.value.utf8), $0) }
        }
    }

    /// The entity of a kind; nil if it is unknown.
    func entity(of kind: UnsafeBufferPointer<UInt8>) -> Int? {
        kinds.first { $0.value.withUnsafeBufferPointer { TextPool.equal($0, kind) } }?.entity
    }
}

extension CompiledModel {
    /// The nearest discriminator of an entity and those it inherits from, and the entity that has it.
    package func discriminator(of entity: Int) -> (discriminator: SyncModel.Discriminator, owner: Int)? {
        var next: Int? = entity
        while let id = next {
            if let found = declarations[id].discriminator { return (found, id) }
            next = entities[id].parent
        }
        return nil
    }
}

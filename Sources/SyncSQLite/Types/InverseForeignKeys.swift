import SyncCore

/// The names of the foreign key columns that the rows of a Swift type lack, although the type has a property for the
/// key of the related row.
///
/// Of two inverse to-one relationships only one has a foreign key column. The rule is that of a model. It is applied to
/// the declarations of the two types, because GRDB reads and writes records without a model.
enum InverseForeignKeys {
    private static let known = Locked<[ObjectIdentifier: Set<String>]>([:])

    static func columns(of type: any SyncEntity.Type) -> Set<String> {
        if let columns = known.withLock({ $0[ObjectIdentifier(type)] }) { return columns }
        let columns = Set(missing(in: type))
        known.withLock { $0[ObjectIdentifier(type)] = columns }
        return columns
    }

    private static func missing<Value: SyncEntity>(in type: Value.Type) -> [String] {
        let entity = type.syncEntity
        return entity.relationships.filter { !$0.isToMany }.compactMap { relationship in
            let property = type.syncProperties.values.first { $0.name == relationship.name && $0.destination != nil }
            guard let other = property?.destination?.syncEntity,
                let inverse = inverse(of: relationship, entity.name, in: other),
                !CompiledAssociation.isFirst(
                    relationship, named: "\(entity.name).\(relationship.name)", beside: inverse,
                    named: "\(other.name).\(inverse.name)")
            else { return nil }
            return relationship.keyColumn
        }
    }

    private static func inverse(
        of relationship: SyncModel.Relationship, _ entity: String, in other: SyncModel.Entity
    ) -> SyncModel.Relationship? {
        other.relationships.first { candidate in
            relationship.inverse.map { $0 == candidate.name }
                ?? (candidate.inverse == relationship.name && candidate.destination == entity)
        }
    }
}

extension SyncModel.Relationship {
    /// The column with the key of the related row, as a Swift type names it.
    var keyColumn: String { column ?? "\(name)ID" }
}

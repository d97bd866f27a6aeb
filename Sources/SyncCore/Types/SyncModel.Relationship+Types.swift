extension SyncModel.Relationship {
    /// A relationship to the rows of a type.
    ///
    /// - Parameter inverse: The property of those that leads back.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: PartialKeyPath<Destination>? = nil, deleteRule: SyncModel.DeleteRule = .nullify,
        remoteKey: String? = nil, isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil,
        keyedBy: MemberNames? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered,
            // One that is no relationship is a problem of the model, named by what was written.
            inverse: inverse.map { Destination.syncProperties[$0]?.name ?? "\($0)" }, deleteRule: deleteRule,
            remoteKey: remoteKey, isExportable: isExportable, isOptional: isOptional, renamedFrom: renamedFrom,
            keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }

    /// A relationship to the rows of a type.
    ///
    /// - Parameter inverse: The name of the relationship that leads back.
    public init<Destination: SyncEntity>(
        _ name: String, to destination: Destination.Type, many isToMany: Bool = false, ordered isOrdered: Bool = false,
        inverse: String, deleteRule: SyncModel.DeleteRule = .nullify, remoteKey: String? = nil,
        isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil, keyedBy: MemberNames? = nil,
        table: String? = nil, column: String? = nil, inverseColumn: String? = nil
    ) {
        self.init(
            name, to: Destination.entityName, many: isToMany, ordered: isOrdered, inverse: inverse,
            deleteRule: deleteRule, remoteKey: remoteKey, isExportable: isExportable, isOptional: isOptional,
            renamedFrom: renamedFrom, keyedBy: keyedBy, table: table, column: column,
            inverseColumn: inverseColumn)
    }
}

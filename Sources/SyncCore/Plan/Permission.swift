/// What may be done with a record, depending on where in the payload it stands.
package struct Permission: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let insert = Permission(rawValue: 1)
    package static let update = Permission(rawValue: 2)
    package static let full: Permission = [.insert, .update]

    /// For a root record.
    package init(root operations: SyncOperations) {
        self = []
        if operations.contains(.insert) { insert(.insert) }
        if operations.contains(.update) { insert(.update) }
    }

    /// For a to-many child given as an object.
    package init(child operations: SyncOperations) {
        self = []
        if operations.contains(.insertRelationships) { insert(.insert) }
        if operations.contains(.updateRelationships) { insert(.update) }
    }
}

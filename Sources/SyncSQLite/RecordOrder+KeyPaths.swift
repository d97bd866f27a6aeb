public import SyncCore

extension RecordOrder {
    /// By an attribute of a type: `RecordOrder(\User.lastName, ascending: false)`. A key path that is none is an error
    /// where the order is used.
    public init<Value: SyncEntity>(_ path: PartialKeyPath<Value>, ascending isAscending: Bool = true) {
        self.init([Term(path, ascending: isAscending)])
    }

    /// This order, and among equal rows by another attribute.
    public func then<Value: SyncEntity>(
        _ path: PartialKeyPath<Value>, ascending isAscending: Bool = true
    ) -> RecordOrder {
        RecordOrder(terms + [Term(path, ascending: isAscending)])
    }
}

extension RecordOrder.Term {
    /// By an attribute of a type.
    public init<Value: SyncEntity>(_ path: PartialKeyPath<Value>, ascending isAscending: Bool = true) {
        self.init(Value.syncProperties[path]?.name ?? "\(path)", ascending: isAscending)
    }
}

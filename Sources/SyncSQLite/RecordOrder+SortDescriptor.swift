public import Foundation
public import SyncCore

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RecordOrder {
    /// By Foundation's descriptors: `try RecordOrder([SortDescriptor(\User.age, order: .reverse)])`.
    ///
    /// Text is ordered by its code points, and so only where a descriptor says no more: on Apple's systems
    /// `SortDescriptor(\.name)` is an order of the user's language, which no index of a database has, and
    /// `SortDescriptor(\.name, comparator: .lexical)` is this one.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for an order of a language, or of anything but an attribute;
    ///   `unknownAttribute` for a property that is none.
    public init<Value: SyncEntity>(_ descriptors: [SortDescriptor<Value>]) throws {
        self.init(try descriptors.map { try Term($0) })
    }

    /// By one of Foundation's descriptors.
    ///
    /// - Throws: ``SyncError`` as ``init(_:)-([SortDescriptor<Value>])`` does.
    public init<Value: SyncEntity>(_ descriptor: SortDescriptor<Value>) throws { try self.init([descriptor]) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RecordOrder.Term {
    /// By one of Foundation's descriptors.
    ///
    /// - Throws: ``SyncError`` as ``RecordOrder/init(_:)-([SortDescriptor<Value>])`` does.
    public init<Value: SyncEntity>(_ descriptor: SortDescriptor<Value>) throws {
        if var comparator = descriptor.stringComparator {
            comparator.order = .forward
            guard comparator == .lexical else {
                throw SyncError(
                    .invalidOption,
                    "the order of a language cannot be asked of the store; 'comparator: .lexical' can",
                    entity: Value.entityName)
            }
        }
        guard let path = descriptor.keyPath else {
            throw SyncError(
                .invalidOption, "an order by a comparator of an app's own cannot be asked of the store",
                entity: Value.entityName)
        }
        guard let property = Value.syncProperties[path] else {
            throw SyncError(
                .unknownAttribute, "\(path) is no attribute of \(Value.entityName)", entity: Value.entityName)
        }
        self.init(property.name, ascending: descriptor.order == .forward)
    }
}

import SyncCore

/// A row of a list that is observed, equal to another if nothing is to be said of the two.
protocol ListedRow: Sendable, Equatable {
    /// What the observer gets.
    associatedtype Element: Sendable

    var element: Element { get }
    /// By which it is the same row after a change of its values.
    var identity: ListedRowIdentity { get }
}

struct ListedRowIdentity: Hashable, Sendable {
    private let entity: Int
    private let rowKey: String

    /// - Parameter rowKey: What its table knows the row by.
    init(_ entity: CompiledEntity, rowKey: some CustomStringConvertible) {
        self.entity = entity.keyOwner ?? entity.id
        self.rowKey = rowKey.description
    }
}

public import SyncCore
package import SyncStore

/// A model and the store that keeps its rows: what the calls of ``Sync`` sync into.
///
/// Only the library's own stores conform, as `DataStack` does.
public protocol SyncStack: Sendable {
    /// What the rows are of.
    var model: SyncModel { get }
    /// What the calls use of the store.
    var host: SyncHost { get }
}

/// What the calls of ``Sync`` use of a store.
public struct SyncHost: Sendable {
    package let store: any StoreHost

    package init(_ store: any StoreHost) { self.store = store }
}

public import SyncCalls
public import SyncSQLite

extension DataStack: SyncStack {
    /// What the calls of ``Sync`` use of the store.
    public var host: SyncHost { SyncHost(self) }
}

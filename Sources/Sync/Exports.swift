@_exported public import SyncCalls
@_exported public import SyncCore
@_exported public import SyncSQLite
@_exported public import SyncService

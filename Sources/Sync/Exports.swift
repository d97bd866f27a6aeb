@_exported public import SyncCalls
@_exported public import SyncCore
@_exported public import SyncSQLite

#if TwoWay
    @_exported public import SyncService
#else
    /// The two-way engine, which the trait `TwoWay` adds to this module.
    @available(*, unavailable, message: "add \"TwoWay\" to the traits of the package Sync in Package.swift")
    public enum SyncEngine {}

    /// The services of the two-way engine, which the trait `TwoWay` adds to this module.
    @available(*, unavailable, message: "add \"TwoWay\" to the traits of the package Sync in Package.swift")
    public enum BuiltInService {}
#endif

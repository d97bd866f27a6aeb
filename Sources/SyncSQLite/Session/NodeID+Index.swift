import SyncCore

extension NodeID {
    /// The same as ``SyncCore``'s, which would be a call from here: functions of other modules are not inlined, and loops
    /// over millions of rows notice.
    @inline(__always)
    var index: Int { Int(number) }
}

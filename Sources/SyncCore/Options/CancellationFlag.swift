/// Whether the caller has cancelled a sync.
///
/// A store may run a transaction on a thread that belongs to no task. The call then passes a flag that the caller's task
/// sets when it is cancelled.
package struct CancellationFlag: Sendable {
    /// The flag of the current task, for stores that run a transaction in the caller's task.
    package static let ofTask = CancellationFlag { Task.isCancelled }

    private let isSet: @Sendable () -> Bool

    package init(_ isSet: @escaping @Sendable () -> Bool) { self.isSet = isSet }

    /// Throws if the sync is cancelled.
    ///
    /// - Throws: `CancellationError`.
    package func check() throws {
        if isSet() { throw CancellationError() }
    }
}

#if canImport(SwiftUI)
    import Combine
    import SyncCore
    import SyncSQLite

    /// Keeps the last value of an observation for a view, which is drawn anew with each.
    @MainActor
    final class StoreFollower<Value: Sendable>: ObservableObject {
        @Published private(set) var value: Value?
        @Published private(set) var state = StoreQuery<Value>.State()
        private var followed: (stack: ObjectIdentifier?, request: AnyHashable)?
        private var task: Task<Void, Never>?

        nonisolated init() {}

        deinit { task?.cancel() }

        /// Follows what a store has for a request, if that is not what is followed already.
        func follow(
            _ request: AnyHashable, of stack: DataStack?,
            _ observe: @escaping @MainActor (DataStack) throws -> StoreObservation<Value>
        ) {
            let source = (stack: stack.map { ObjectIdentifier($0) }, request: request)
            if let followed, followed == source { return }
            followed = source
            task?.cancel()
            // A view must not change while it is drawn: what is found out here is said later.
            task = Task { [weak self] in
                do {
                    guard let stack else {
                        throw SyncError(
                            .invalidOption, "the view has no store: give it one by .environment(\\.dataStack, stack)")
                    }
                    for try await value in try observe(stack) {
                        guard let self, !Task.isCancelled else { return }
                        self.value = value
                        self.state = .init(isLoaded: true)
                    }
                } catch {
                    guard !Task.isCancelled else { return }
                    self?.state.error = error
                }
            }
        }
    }
#endif

#if canImport(SwiftUI)
    import Combine
    public import SwiftUI
    public import SyncCore
    public import SyncSQLite

    /// A property of a view that has the rows of a store, and updates the view when they change.
    ///
    /// ```swift
    /// struct UserList: View {
    ///     @StoreQuery(User.self, where: "age >= 18", orderedBy: "lastName") var users
    ///     @StoreQuery(countOf: User.self) var count
    ///
    ///     var body: some View {
    ///         if let error = $users.error { Text(error.localizedDescription) }
    ///         List(users, id: \.id) { Text($0.name) }
    ///     }
    /// }
    ///
    /// UserList().environment(\.dataStack, stack)
    /// ```
    /// It reads as ``DataStack/observe(_:where:orderedBy:limit:including:)`` does. Until the first value arrives, it
    /// has an empty
    /// list, nil or 0. After an error it keeps the last value.
    @propertyWrapper
    public struct StoreQuery<Value: Sendable>: DynamicProperty {
        /// The state of a query.
        public struct State: Sendable {
            /// Whether the value was read from the store. False for the placeholder before the first value.
            public internal(set) var isLoaded = false
            /// The error that ended the observation; nil while it runs.
            public internal(set) var error: (any Error)?
        }

        @Environment(\.dataStack) private var stack
        @StateObject private var follower = ObservationModel<Value>()
        /// Equal for queries that read the same rows.
        private let request: AnyHashable
        private let placeholder: Value
        private let observe: @MainActor (DataStack) throws -> StoreObservation<Value>

        private init(
            _ request: [AnyHashable], placeholder: Value,
            observe: @escaping @MainActor (DataStack) throws -> StoreObservation<Value>
        ) {
            self.request = AnyHashable(request)
            self.placeholder = placeholder
            self.observe = observe
        }

        /// The latest value.
        @MainActor public var wrappedValue: Value { follower.value ?? placeholder }

        /// Whether a value was read, and the error that ended the observation.
        @MainActor public var projectedValue: State { follower.state }

        /// Starts to observe the current request, if it has changed. SwiftUI calls it on the main actor.
        public nonisolated func update() {
            nonisolated(unsafe) let query = self
            MainActor.assumeIsolated { query.follower.follow(query.request, of: query.stack, query.observe) }
        }
    }

    extension StoreQuery {
        /// Observes the rows of an entity as values of its type.
        ///
        /// - Parameters:
        ///   - limit: The most rows to read; nil for all.
        ///   - skip: Called, for each list that is read, with the rows that cannot be read as values of the type. They
        ///     are left out. Without it the first such row sets `error`. The view keeps the first `skip` that it is
        ///     given.
        ///   - relationships: The relationships whose rows are loaded.
        public init<Row: EntityRecord>(
            _ type: Row.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
            limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
            including relationships: (any PartialKeyPath<Row> & Sendable)...
        ) where Value == [Row] {
            self.init(
                [Row.entityName, predicate, order, limit, skip != nil, relationships as [PartialKeyPath<Row>]],
                placeholder: []
            ) {
                try $0.observe(
                    type, where: predicate, orderedBy: order, limit: limit, skipping: skip, including: relationships)
            }
        }

        /// Observes the row with a key as a value of its type.
        ///
        /// - Parameter relationships: The relationships whose rows are loaded.
        public init<Row: EntityRecord>(
            _ type: Row.Type, id: some AttributeValue & Hashable,
            including relationships: (any PartialKeyPath<Row> & Sendable)...
        ) where Value == Row? {
            self.init([Row.entityName, id, relationships as [PartialKeyPath<Row>]], placeholder: nil) {
                try $0.observe(type, id: id, including: relationships)
            }
        }

        /// Observes the number of rows of an entity.
        public init<Row: EntityRecord>(countOf type: Row.Type, where predicate: RowPredicate = .all)
        where Value == Int {
            self.init([Row.entityName, predicate], placeholder: 0) { $0.observeCount(type, where: predicate) }
        }

        /// Observes the rows of an entity.
        ///
        /// - Parameter limit: The most rows to read; nil for all.
        public init(
            _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
            limit: Int? = nil
        ) where Value == [SyncRow] {
            self.init([entity, predicate, order, limit], placeholder: []) {
                $0.observe(entity, where: predicate, orderedBy: order, limit: limit)
            }
        }
    }

    /// Keeps the latest value of an observation for a view, and publishes each new one.
    @MainActor
    final class ObservationModel<Value: Sendable>: ObservableObject {
        @Published private(set) var value: Value?
        @Published private(set) var state = StoreQuery<Value>.State()
        private var followed: (stack: ObjectIdentifier?, request: AnyHashable)?
        private var task: Task<Void, Never>?

        nonisolated init() {}

        deinit { task?.cancel() }

        /// Observes the store for a request. Does nothing if it observes the same request already.
        func follow(
            _ request: AnyHashable, of stack: DataStack?,
            _ observe: @escaping @MainActor (DataStack) throws -> StoreObservation<Value>
        ) {
            let source = (stack: stack.map { ObjectIdentifier($0) }, request: request)
            if let followed, followed == source { return }
            followed = source
            task?.cancel()
            // SwiftUI forbids publishing changes during a view update, so errors are published from the task.
            task = Task { [weak self] in
                do {
                    guard let stack else {
                        throw SyncError(
                            .invalidOption, "the view has no DataStack; set one with .environment(\\.dataStack, stack)")
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

    // MARK: - EnvironmentValues+DataStack

    extension EnvironmentValues {
        private struct DataStackKey: EnvironmentKey {
            static var defaultValue: DataStack? { nil }
        }

        /// The store of each ``StoreQuery`` in the views below.
        public var dataStack: DataStack? {
            get { self[DataStackKey.self] }
            set { self[DataStackKey.self] = newValue }
        }
    }
#endif

#if canImport(SwiftUI)
    import Combine
    public import SwiftUI
    public import SyncCore
    public import SyncSQLite

    /// What a store has, in a view that is drawn anew whenever it is something else.
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
    /// It reads what ``DataStack/observe(_:where:orderedBy:limit:including:)`` and its like do: an empty list, no row or 0 until the
    /// first value is there, and the last one if `error` says why there are no more.
    @propertyWrapper
    public struct StoreQuery<Value: Sendable>: DynamicProperty {
        /// How far a view is with what it reads.
        public struct State: Sendable {
            /// Whether the value is the store's, and not what stands there before.
            public internal(set) var isLoaded = false
            /// Why there are no more values; nil while there may be.
            public internal(set) var error: (any Error)?
        }

        @Environment(\.dataStack) private var stack
        @StateObject private var follower = ObservationModel<Value>()
        /// Two are equal where the same is read.
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

        /// What was read last.
        @MainActor public var wrappedValue: Value { follower.value ?? placeholder }

        /// Whether it was read, and why it is read no more.
        @MainActor public var projectedValue: State { follower.state }

        /// Follows what the view asks for now. SwiftUI calls it on the main actor.
        public nonisolated func update() {
            nonisolated(unsafe) let query = self
            MainActor.assumeIsolated { query.follower.follow(query.request, of: query.stack, query.observe) }
        }
    }

    extension StoreQuery {
        /// The rows of an entity, as values of its type.
        ///
        /// - Parameters:
        ///   - limit: How many there are at most; nil for all.
        ///   - skip: Is told, with each list that is read, of the rows that are no values of the type, which are left out. Without
        ///     it `error` has the first one. The view keeps the first `skip` that it is given.
        ///   - relationships: Those whose rows are loaded with them.
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

        /// The row with this key, as a value of its type.
        ///
        /// - Parameter relationships: Those whose rows are loaded with it.
        public init<Row: EntityRecord>(
            _ type: Row.Type, id: some AttributeValue & Hashable,
            including relationships: (any PartialKeyPath<Row> & Sendable)...
        ) where Value == Row? {
            self.init([Row.entityName, id, relationships as [PartialKeyPath<Row>]], placeholder: nil) {
                try $0.observe(type, id: id, including: relationships)
            }
        }

        /// How many rows an entity has.
        public init<Row: EntityRecord>(countOf type: Row.Type, where predicate: RowPredicate = .all)
        where Value == Int {
            self.init([Row.entityName, predicate], placeholder: 0) { $0.observeCount(type, where: predicate) }
        }

        /// The rows of an entity.
        ///
        /// - Parameter limit: How many there are at most; nil for all.
        public init(
            _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
            limit: Int? = nil
        ) where Value == [SyncRow] {
            self.init([entity, predicate, order, limit], placeholder: []) {
                $0.observe(entity, where: predicate, orderedBy: order, limit: limit)
            }
        }
    }

    /// Keeps the last value of an observation for a view, which is drawn anew with each.
    @MainActor
    final class ObservationModel<Value: Sendable>: ObservableObject {
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

    // MARK: - EnvironmentValues+DataStack

    extension EnvironmentValues {
        private struct DataStackKey: EnvironmentKey {
            static var defaultValue: DataStack? { nil }
        }

        /// The store that ``StoreQuery`` reads in the views below.
        public var dataStack: DataStack? {
            get { self[DataStackKey.self] }
            set { self[DataStackKey.self] = newValue }
        }
    }
#endif

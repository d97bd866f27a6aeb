#if canImport(SwiftUI)
    import Combine
    public import Foundation
    public import SwiftUI
    public import SyncCore
    public import SyncSQLite

    /// A property wrapper that reads rows of a store for a view, and updates the view when the rows change.
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
    /// The query observes the store in the same way as
    /// ``DataStack/observe(_:where:orderedBy:limit:skippingUnreadable:including:)``. Until the first value arrives, the
    /// property has a placeholder: an empty list, nil or 0. After an error, the property keeps its last value. The
    /// error is available as ``State/error``.
    @propertyWrapper
    public struct StoreQuery<Value: Sendable>: DynamicProperty {
        /// The loading state and the last error of a query.
        public struct State: Sendable {
            /// Whether the query has read a value from the store. If false, the property has a placeholder.
            public internal(set) var isLoaded = false
            /// The last error of the query; nil if no error occurred, or if a value arrived after the error.
            public internal(set) var error: (any Error)?
        }

        @Environment(\.dataStack) private var stack
        @StateObject private var follower = ObservationModel<Value>()
        /// The arguments of the query. The observation restarts only if they change.
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

        /// The last value that the query read; a placeholder until the first value arrives.
        @MainActor public var wrappedValue: Value { follower.value ?? placeholder }

        /// The state of the query. For a property `users`, the state is `$users`.
        @MainActor public var projectedValue: State { follower.state }

        /// Starts an observation at the first call, and a new observation after the stack or the arguments of the query
        /// have changed. SwiftUI calls this method on the main actor.
        public nonisolated func update() {
            nonisolated(unsafe) let query = self
            MainActor.assumeIsolated { query.follower.follow(query.request, of: query.stack, query.observe) }
        }
    }

    extension StoreQuery {
        /// Creates a query that observes the rows of an entity as values of a Swift type.
        ///
        /// - Parameters:
        ///   - limit: The maximum number of rows; nil for all.
        ///   - skip: A function that receives the rows and related rows that cannot be decoded, one at a time. The
        ///     query omits these rows. If the function is nil, the first such row ends the observation with an error.
        ///     If a view update passes a different function, the query keeps the former function until another argument
        ///     or the stack changes.
        ///   - relationships: The relationships whose related rows the query also reads.
        public init<Row: EntityRecord>(
            _ type: Row.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
            limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
            including relationships: (any PartialKeyPath<Row> & Sendable)...
        ) where Value == [Row] {
            self.init(type, predicate, order, limit, skip, relationships)
        }

        /// Creates a query that observes the rows of an entity that match a predicate, in the order of a key path.
        ///
        /// ```swift
        /// @StoreQuery(User.self, where: #Predicate { $0.age >= 18 }, orderedBy: \.lastName) var users
        /// ```
        /// - Parameters:
        ///   - predicate: The condition of the rows; nil for all rows. If it cannot be translated, the query has an
        ///     error.
        ///   - path: The attribute or to-one relationship that orders the rows; nil for the order by key.
        ///   - isAscending: Whether the order is ascending.
        @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
        @_disfavoredOverload
        public init<Row: EntityRecord>(
            _ type: Row.Type, where predicate: Predicate<Row>? = nil, orderedBy path: PartialKeyPath<Row>? = nil,
            ascending isAscending: Bool = true, limit: Int? = nil,
            skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
            including relationships: (any PartialKeyPath<Row> & Sendable)...
        ) where Value == [Row] {
            let (condition, order) = DataStack.selection(predicate, path, isAscending)
            self.init(type, condition, order, limit, skip, relationships)
        }

        private init<Row: EntityRecord>(
            _ type: Row.Type, _ predicate: RowPredicate, _ order: RowOrder, _ limit: Int?,
            _ skip: (@Sendable (UnreadableRow) -> Void)?, _ relationships: [any PartialKeyPath<Row> & Sendable]
        ) where Value == [Row] {
            self.init(
                [Row.entityName, predicate, order, limit, skip != nil, relationships as [PartialKeyPath<Row>]],
                placeholder: []
            ) {
                try $0.observe(
                    type, where: predicate, orderedBy: order, limit: limit, skipping: skip, including: relationships)
            }
        }

        /// Creates a query that observes the row with the given primary key, and reads this row as a value of a Swift
        /// type. The property is nil while no row has the key.
        ///
        /// - Parameter relationships: The relationships whose related rows the query also reads.
        public init<Row: EntityRecord>(
            _ type: Row.Type, id: some AttributeValue & Hashable,
            including relationships: (any PartialKeyPath<Row> & Sendable)...
        ) where Value == Row? {
            self.init([Row.entityName, id, relationships as [PartialKeyPath<Row>]], placeholder: nil) {
                try $0.observe(type, id: id, including: relationships)
            }
        }

        /// Creates a query that observes the number of rows of an entity that match a predicate.
        public init<Row: EntityRecord>(countOf type: Row.Type, where predicate: RowPredicate = .all)
        where Value == Int {
            self.init([Row.entityName, predicate], placeholder: 0) { $0.observeCount(type, where: predicate) }
        }

        /// Creates a query that observes the number of rows of an entity that match a predicate of Foundation.
        @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
        public init<Row: EntityRecord>(countOf type: Row.Type, where predicate: Predicate<Row>)
        where Value == Int {
            self.init(countOf: type, where: RowPredicate(checkedInUse: predicate))
        }

        /// Creates a query that observes the rows of an entity. The entity is given by name.
        ///
        /// - Parameter limit: The maximum number of rows; nil for all.
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

        /// Observes `stack` with `observe`. Does nothing if the previous call had the same stack and an equal request.
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

        /// The stack for each ``StoreQuery`` of a view and of its subviews; nil if no stack is set.
        public var dataStack: DataStack? {
            get { self[DataStackKey.self] }
            set { self[DataStackKey.self] = newValue }
        }
    }
#endif

import GRDB
public import SyncCore
import SyncStore

/// An asynchronous sequence of the values of a query: the current value, then each new value.
///
/// The sequence may skip intermediate values, but always delivers the latest value. Each iterator starts an
/// observation. The observation ends when the task that uses the iterator is cancelled, or when the iterator is
/// released.
///
/// If a fetch fails, for example because of an unknown name, the sequence throws the error. When the stack is closed,
/// the sequence throws `storeClosed`.
public struct StoreObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// Starts an observation and returns a function that waits for the next value. The observation runs until that
    /// function is released.
    private let begin: @Sendable () -> () async throws -> Value?

    /// - Parameter fetch: Reads the data from which `value` creates a value. Equal data must give equal values.
    init<Read: Sendable & Equatable>(
        _ stack: DataStack, fetch: @escaping @Sendable (Database) throws -> Read,
        value: @escaping @Sendable (Read) -> Value
    ) {
        let database = stack.database
        let watch = stack.watch
        let observation = ValueObservation.tracking { db in
            try DatabaseErrorMapper.mapped(.databaseError, "cannot read the store") {
                SQLFunctionInstaller.install(in: db)
                try watch.check(db)
                return try fetch(db)
            }
        }.removeDuplicates()
        begin = {
            let stream = AsyncThrowingStream(Read.self, bufferingPolicy: .bufferingNewest(1)) { values in
                database.observe(endingWith: { values.finish(throwing: $0) }) { writer, stop in
                    values.onTermination = { _ in stop() }
                    return observation.start(
                        in: writer, scheduling: .task,
                        onError: { values.finish(throwing: DatabaseErrorMapper.mapped($0)) },
                        onChange: { values.yield($0) })
                }
            }
            var values = stream.makeAsyncIterator()
            return { try await values.next().map(value) }
        }
    }

    /// Starts an observation, and returns an iterator of the values.
    public func makeAsyncIterator() -> Iterator { Iterator(nextValue: begin()) }

    /// The iterator of an observation. Releasing the iterator ends the observation.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextValue: () async throws -> Value?

        /// Returns the next value when it is available; nil if the task was cancelled, or if an earlier call threw an
        /// error.
        ///
        /// - Throws: The errors of the fetch, or ``SyncError`` `storeClosed`.
        public mutating func next() async throws -> Value? { try await nextValue() }
    }
}

extension StoreObservation {
    /// Observes the changes of a list of rows: first all rows as inserted, then the differences from the previous list.
    init<Listed: ObservedListItem>(changesOf lists: StoreObservation<[Listed]>)
    where Value == RowChanges<Listed.Element> {
        begin = {
            var lists = lists.makeAsyncIterator()
            var last: [Listed] = []
            return {
                guard let list = try await lists.next() else { return nil }
                defer { last = list }
                return RowChanges(from: last, to: list)
            }
        }
    }
}

// MARK: - DataStack+Observation

extension DataStack {
    /// Observes the rows of an entity and its subentities. The sequence contains the current rows, then all rows again
    /// after each change.
    ///
    /// ```swift
    /// for try await users in stack.observe("User", where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// A transaction produces at most one value. A transaction produces no value if the rows, their order and their
    /// foreign keys stay unchanged.
    ///
    /// The observation detects all writes through the database of this stack: syncs, changes of single rows, and the
    /// app's writes with GRDB. Writes of other connections and processes are detected only at the next write of this
    /// stack to the observed tables.
    ///
    /// - Parameter limit: The maximum number of rows to read; nil for all.
    public func observe(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<[SyncRow]> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0.map(\.record) }
    }

    /// Observes the row with a key. The sequence contains the current row, then the row after each change. A value is
    /// nil if no row has the key.
    ///
    /// - Parameter id: The primary key, which the call converts to the type of the key attribute. A composite key is an
    ///   array of its parts in the order of the model.
    public func observe(_ entity: String, id: JSONValue) -> StoreObservation<SyncRow?> {
        StoreObservation(self, fetch: { db in try ObservedRow.fetch(entity, id: id, self, db) }) { $0?.record }
    }

    /// Observes the number of rows of an entity and its subentities. The sequence contains the current number, then
    /// each new number.
    public func observeCount(_ entity: String, where predicate: RowPredicate = .all) -> StoreObservation<Int> {
        StoreObservation(self, fetch: { db in try self.count(entity, where: predicate, in: db) }) { $0 }
    }

    /// Observes the changes of the rows of an entity and its subentities. The first value contains all rows as inserted
    /// rows. Later values contain the indexes of the removed, inserted, moved and updated rows.
    ///
    /// ```swift
    /// for try await changes in stack.observeChanges("User", orderedBy: "lastName") {
    ///     table.deleteRows(at: changes.removed.map { IndexPath(row: $0, section: 0) }, with: .automatic)
    /// }
    /// ```
    /// - Parameter limit: The maximum number of rows in the list; nil for all.
    public func observeChanges(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<RowChanges<SyncRow>> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation<RowChanges<SyncRow>>(
            changesOf: StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0 })
    }
}

// MARK: - Changes of rows

/// The changes of a list of rows, with indexes as in the batch updates of UIKit.
///
/// Each row is a ``SyncRow`` or a value of a Swift type.
public struct RowChanges<Row: Sendable>: Sendable {
    /// The old and the new index of a row.
    public struct IndexChange: Sendable, Hashable, CustomStringConvertible {
        /// The index in the old list.
        public let old: Int
        /// The index in the new list.
        public let new: Int

        /// Creates a change from the index `old` to the index `new`.
        package init(old: Int, new: Int) {
            self.old = old
            self.new = new
        }

        /// The old and the new index: `3 → 0`.
        public var description: String { "\(old) → \(new)" }
    }

    /// All rows of the new list.
    public let rows: [Row]
    /// The old indexes of rows that are no longer in the list, ascending.
    public let removed: [Int]
    /// The new indexes of rows that were not in the list before, ascending. In the first value of an observation, this
    /// array contains the indexes of all rows.
    public let inserted: [Int]
    /// The old and new indexes of the rows to move, ordered by new index. The array is as short as possible. The array
    /// omits rows whose indexes change only because other rows are removed, inserted or moved.
    public let moved: [IndexChange]
    /// The old and new indexes of rows whose values, foreign keys or loaded related rows changed, ordered by new index.
    /// The array may also contain the indexes of moved rows.
    public let updated: [IndexChange]

    init<Listed: ObservedListItem>(from old: [Listed], to new: [Listed]) where Listed.Element == Row {
        let before = Dictionary(
            old.indices.map { (old[$0].identity, $0) }, uniquingKeysWith: { first, _ in first })
        var (inserted, stayed): ([Int], [IndexChange]) = ([], [])
        for index in new.indices {
            if let place = before[new[index].identity] {
                stayed.append(IndexChange(old: place, new: index))
            } else {
                inserted.append(index)
            }
        }
        let kept = Set(stayed.map(\.old))
        let still = Self.longestAscent(stayed.map(\.old))
        rows = new.map(\.element)
        removed = old.indices.filter { !kept.contains($0) }
        self.inserted = inserted
        moved = stayed.filter { !still.contains($0.old) }
        updated = stayed.filter { old[$0.old] != new[$0.new] }
    }

    /// Returns the longest ascending subsequence of distinct numbers: the rows that need not move.
    ///
    /// Patience sorting takes O(n log n). The difference algorithm of the standard library takes O(n²) for a reordered
    /// list.
    private static func longestAscent(_ numbers: [Int]) -> Set<Int> {
        // `ends[n]`: the index of the smallest number that ends a subsequence of length n + 1. `previous`: the index of
        // the number before each number in its subsequence.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : nil
            if low < ends.count { ends[low] = index } else { ends.append(index) }
        }
        var ascent: Set<Int> = []
        var index = ends.last
        while let current = index {
            ascent.insert(numbers[current])
            index = previous[current]
        }
        return ascent
    }
}

extension RowChanges: Equatable where Row: Equatable {}
extension RowChanges: Hashable where Row: Hashable {}

/// A row of an observed list. Two values are equal if there is no change to report.
protocol ObservedListItem: Sendable, Equatable {
    /// The type of the row that an observer receives.
    associatedtype Element: Sendable

    var element: Element { get }
    /// The identity of the row: its row key, and the entity that declares the key.
    var identity: ListedRowIdentity { get }
}

struct ListedRowIdentity: Hashable, Sendable {
    private let entity: Int
    private let rowKey: BinaryComparedValue

    /// - Parameter rowKey: The primary key or surrogate key of the row.
    init(_ entity: CompiledEntity, rowKey: DatabaseValue) {
        self.entity = entity.keyOwner ?? entity.id
        self.rowKey = rowKey.exact
    }
}

/// A row and its foreign keys, so that a changed foreign key counts as a change of the row.
struct ObservedRow: ObservedListItem {
    let record: SyncRow
    let links: [BinaryComparedValue]

    var element: SyncRow { record }
    var identity: ListedRowIdentity { ListedRowIdentity(record.type, rowKey: record.rowKey.databaseValue) }

    /// Fetches the row with a key; nil if no row has the key.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    static func fetch(_ entity: String, id: JSONValue, _ stack: DataStack, _ db: Database) throws -> ObservedRow? {
        let entity = try stack.model.compiled.keyedEntity(named: entity)
        guard let key = stack.model.compiled.rowKey(id, of: entity),
            let (condition, arguments) = try stack.condition(key, of: entity, in: db)
        else { return nil }
        let select = RecordSQL(entity, stack.layout)
        return try fetch(select, stack, db, "FROM \(select.from) WHERE \(condition)", arguments).first
    }

    /// - Parameter rest: The part of the statement after the selected columns.
    static func fetch(
        _ select: RecordSQL, _ stack: DataStack, _ db: Database, _ rest: String, _ arguments: StatementArguments
    ) throws -> [ObservedRow] {
        let links = stack.layout.model[select.entity.table].foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = stack.layout[id] else { return nil }
            return column
        }
        let columns = ([select.columns] + links.map(select.column)).joined(separator: ", ")
        let statement = try db.makeStatement(sql: "SELECT \(columns) \(rest)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        let values = StatementColumns(statement)
        var observed: [ObservedRow] = []
        while try rows.next() != nil {
            let keys = (values.count - links.count..<values.count).map { values.wholeValue(at: $0).exact }
            observed.append(ObservedRow(record: try select.record(values), links: keys))
        }
        return observed
    }
}

/// The query of the observed rows.
struct ObservedRows: Sendable {
    let entity: String
    let predicate: RowPredicate
    let order: RowOrder
    let limit: Int?

    func fetch(_ stack: DataStack, _ db: Database) throws -> [ObservedRow] {
        let (select, rest, arguments) = try stack.selection(
            of: stack.model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit, in: db)
        return try ObservedRow.fetch(select, stack, db, rest, arguments)
    }
}

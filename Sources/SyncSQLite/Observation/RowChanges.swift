import GRDB
import SyncCore
import SyncStore

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
            of: stack.model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit)
        return try ObservedRow.fetch(select, stack, db, rest, arguments)
    }
}

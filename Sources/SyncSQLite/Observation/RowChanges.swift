import GRDB
import SyncCore
import SyncStore

/// What became of a list of rows, for a table on a screen: with the indexes that UIKit's batch updates and
/// fetched-results controllers take.
///
/// The rows are ``SyncRow``s, or values of a type.
public struct RowChanges<Row: Sendable>: Sendable {
    /// Where a row was, and where it is.
    public struct IndexChange: Sendable, Hashable {
        /// Its index before.
        public let old: Int
        /// Its index now.
        public let new: Int

        /// A place before and a place now.
        public init(old: Int, new: Int) {
            self.old = old
            self.new = new
        }
    }

    /// All rows, as they are now.
    public let rows: [Row]
    /// The indexes that rows had which are in the list no more, ascending.
    public let removed: [Int]
    /// The indexes of rows that were not in the list before, ascending; of the first changes all there are.
    public let inserted: [Int]
    /// Rows that changed places with others: as few as there can be, by their new index. Removed and inserted rows
    /// move nobody.
    public let moved: [IndexChange]
    /// Rows whose values or to-one links are others, whether they moved or not, by their new index.
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

    /// The longest part of different numbers that ascends: the rows that need not move. (By patience sorting, in
    /// n log n; the standard library's difference takes n² where a list is sorted anew.)
    private static func longestAscent(_ numbers: [Int]) -> Set<Int> {
        // The index of the smallest number that ends an ascent of each length, and what comes before it in the ascent.
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

/// A row of a list that is observed, equal to another if nothing is to be said of the two.
protocol ObservedListItem: Sendable, Equatable {
    /// What the observer gets.
    associatedtype Element: Sendable

    var element: Element { get }
    /// By which it is the same row after a change of its values.
    var identity: ListedRowIdentity { get }
}

struct ListedRowIdentity: Hashable, Sendable {
    private let entity: Int
    private let rowKey: String

    /// - Parameter rowKey: What its table knows the row by.
    init(_ entity: CompiledEntity, rowKey: some CustomStringConvertible) {
        self.entity = entity.keyOwner ?? entity.id
        self.rowKey = rowKey.description
    }
}

/// A row, and to whom its to-one relationships lead: it is another row as well where only these are others.
struct ObservedRow: ObservedListItem {
    let record: SyncRow
    let links: [DatabaseValue]

    var element: SyncRow { record }
    var identity: ListedRowIdentity { ListedRowIdentity(record.type, rowKey: record.rowKey) }

    /// The row with this key; nil if there is none.
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

    /// - Parameter rest: What stands behind the columns in the statement.
    static func fetch(
        _ select: RecordSQL, _ stack: DataStack, _ db: Database, _ rest: String, _ arguments: StatementArguments
    ) throws -> [ObservedRow] {
        let links = stack.layout.model[select.entity.table].foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = stack.layout[id] else { return nil }
            return column
        }
        let columns = ([select.columns] + links.map(select.column)).joined(separator: ", ")
        let rows = try Row.fetchCursor(
            db, sql: "SELECT \(columns) \(rest)", arguments: arguments)
        var observed: [ObservedRow] = []
        while let row = try rows.next() {
            let first = row.count - links.count
            observed.append(ObservedRow(record: try select.record(row), links: (first..<row.count).map { row[$0] }))
        }
        return observed
    }
}

/// Which rows are observed.
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

import Foundation
import SyncCore

/// The row of a value, as the value was fetched or last saved. A save writes only what differs from it.
///
/// `@Entity` stores it in ``EntityRecord/syncFetchedRow``, and calls ``recordEdit()`` for each edit. So an edited copy of
/// a value has a state of its own, and a save of it does not affect the other copies. Without these calls, all copies of
/// a value share one state. The state takes no part in the comparison, the hash value and the encoding of a value.
public struct FetchedRow: Sendable {
    /// Nil in the fetched value that a state contains, which would otherwise contain its own state.
    private var state: State?

    /// Creates the state of a value that was neither fetched nor saved. A save writes all attributes of the value.
    ///
    /// - Parameter tracksEdits: Whether the type calls ``recordEdit()`` for each edit of a property.
    public init(tracksEdits: Bool = false) { state = State(tracksEdits: tracksEdits) }

    private init(_ state: State?) { self.state = state }

    /// Gives the value a state of its own if other copies share its state. Call this method when a property changes.
    public mutating func recordEdit() {
        guard state?.tracksEdits == true, !isKnownUniquelyReferenced(&state), let former = state else { return }
        state = State(after: former)
    }

    /// Returns the contents of the row; nil if the value was neither fetched from this store nor saved in it.
    func contents(in store: StoreIdentity) throws -> RowContents? {
        guard let known = state?.known, known.store === store else { return nil }
        return try known.contents.row
    }

    /// Returns the key that a save generated for the value; nil if no save in this store did, or if the edits of the
    /// value are not tracked. Without tracking, a copy of the value may be meant as another new row.
    func generatedKey(in store: StoreIdentity?) -> JSONValue? {
        guard let state, state.tracksEdits, case (.saved(let contents), let own)? = state.known,
            store == nil || own === store, contents.key != .null
        else { return nil }
        return contents.key
    }

    /// Sets the contents that were fetched.
    ///
    /// - Parameters:
    ///   - value: The fetched value with its loaded related rows.
    ///   - store: The store that contains the row.
    func setFetched(_ value: some EntityRecord, in store: StoreIdentity) {
        var value = value
        value.syncFetchedRow = FetchedRow(nil)
        _ = state?.setKnown((.fetched(value), store))
    }

    /// Sets the contents that were saved.
    ///
    /// - Returns: A function that undoes the change.
    func setSaved(_ contents: RowContents, in store: StoreIdentity) -> @Sendable () -> Void {
        guard let state else { return {} }
        return state.setKnown((.saved(contents), store))
    }

    /// Adds contents that the row may have now, because a caller may roll the write back. A save then also writes what
    /// differs from them.
    func addPossible(_ contents: @autoclosure () throws -> RowContents) throws {
        guard let state, let known = state.known else { return }
        _ = state.setKnown((.saved(try known.contents.row.common(with: contents())), known.store))
    }

    private enum Contents: Sendable {
        /// The fetched value with its loaded related rows.
        case fetched(any EntityRecord)
        case saved(RowContents)

        var row: RowContents {
            get throws {
                switch self {
                case .fetched(let value): try RowContents(value)
                case .saved(let contents): contents
                }
            }
        }
    }

    /// `@unchecked Sendable`: the variables are only accessed while `lock` is held.
    private final class State: @unchecked Sendable {
        typealias Known = (contents: Contents, store: StoreIdentity)

        /// The lock of all states. A lock in each state would make each value larger.
        private static let lock = NSLock()
        let tracksEdits: Bool
        private var own: Known?
        /// The state of the copy from which the value was edited. A save of that copy may end after the edit.
        private var former: State?

        init(tracksEdits: Bool) { self.tracksEdits = tracksEdits }

        init(after former: State) { (self.former, tracksEdits) = (former, true) }

        /// The contents of the row, and the store that contains it; nil if the value was neither fetched nor saved.
        var known: Known? {
            Self.lock.withLock {
                var state = self
                while state.own == nil, let former = state.former { state = former }
                return state.own
            }
        }

        /// Sets the contents. Returns a function that undoes the change.
        func setKnown(_ known: Known) -> @Sendable () -> Void {
            let (own, former) = Self.lock.withLock {
                defer { (self.own, self.former) = (known, nil) }
                return (self.own, self.former)
            }
            return { Self.lock.withLock { (self.own, self.former) = (own, former) } }
        }

        /// Releases a long chain of states without recursion.
        deinit {
            var next = former
            former = nil
            while next != nil, isKnownUniquelyReferenced(&next) {
                let further = next?.former
                next?.former = nil
                next = further
            }
        }
    }
}

/// Identifies an open store.
final class StoreIdentity: Sendable {}

// MARK: - RowContents

/// The attributes and links of a value.
struct RowContents: Sendable {
    /// The loaded rows of a relationship.
    struct Related: Sendable {
        /// The rows that the relationship had.
        var rows: [RowContents]
        /// The rows that the relationship may have had: rows that the app removed, whose link a save kept, and rows
        /// whose link may have been rolled back.
        var possible: [RowContents] = []
        /// Whether the list of the app is stored. False after a write that may have been rolled back.
        var isCertain = true

        var keys: [JSONValue] { rows.map(\.key) }
    }

    /// The primary key as JSON.
    let key: JSONValue
    /// The loaded related rows by the name of the relationship.
    private(set) var related: [String: Related]
    /// The values in the order of the type's attributes; nil for a value that is not certain.
    private var attributes: [EntityRowEncoder.Attribute?]
    /// The certain links of to-one relationships.
    private var references: [EntityRowEncoder.Reference]

    init(_ value: any EntityRecord) throws { try self.init(EntityRowEncoder(encoding: value), key: value.key(in: nil)) }

    init(_ row: EntityRowEncoder, key: JSONValue) throws {
        self.key = key
        (attributes, references) = (row.attributes, row.references)
        related = try row.related.mapValues { Related(rows: try $0.map { try RowContents($0) }) }
    }

    /// Returns the contents with the related rows of other contents, for a save that keeps rows that a list omits.
    func addingRelated(of other: RowContents?) -> RowContents {
        var contents = self
        contents.related.merge(other?.related ?? [:]) { own, others in
            let former = Dictionary(others.rows.map { ($0.key, $0) }) { first, _ in first }
            let keys = Set(own.keys)
            return Related(
                rows: own.rows.map { $0.addingRelated(of: former[$0.key]) },
                possible: (others.rows + others.possible).filter { !keys.contains($0.key) })
        }
        return contents
    }

    /// Returns the contents that are the same in other contents of the row.
    func common(with other: RowContents) -> RowContents {
        var contents = self
        contents.attributes = zip(attributes, other.attributes).map { own, others in
            own.flatMap { own in others.map(own.isSame) == true ? own : nil }
        }
        contents.references.removeAll { !other.has($0) }
        contents.related.merge(other.related) { own, others in
            let (known, keys) = (Dictionary(others.rows.map { ($0.key, $0) }) { first, _ in first }, Set(own.keys))
            return Related(
                rows: own.rows.compactMap { row in known[row.key].map { row.common(with: $0) } },
                possible: own.possible + others.possible + own.rows.filter { known[$0.key] == nil }
                    + others.rows.filter { !keys.contains($0.key) },
                isCertain: own.isCertain && others.isCertain && own.keys == others.keys)
        }
        return contents
    }

    /// Returns the attributes of a row that have the same values.
    func unchangedAttributes(of row: EntityRowEncoder) -> [EntityRowEncoder.Attribute] {
        zip(row.attributes, attributes).compactMap { given, own in own.map(given.isSame) == true ? given : nil }
    }

    /// Returns the value of an attribute; nil if it is not certain.
    func value(of attribute: String) -> StoredValue? {
        attributes.lazy.compactMap(\.self).first { $0.name == attribute }?.value
    }

    /// Returns the key of the row that a relationship linked; nil if it is not certain.
    func key(of reference: EntityRowEncoder.Reference) -> StoredValue? {
        references.first { $0.column == reference.column }?.key
    }

    /// Returns whether the row had this link.
    func has(_ reference: EntityRowEncoder.Reference) -> Bool {
        key(of: reference) == reference.key
    }
}

extension EntityRowEncoder.Attribute {
    /// Returns whether another value of the same attribute has the same stored form. The members of a JSON object may
    /// have another order, because `JSONEncoder` writes them in any order.
    fileprivate func isSame(as other: Self) -> Bool {
        guard name == other.name else { return false }
        let (own, others) = (value, other.value)
        return ColumnValue.databaseValue(own, as: .string).isExactly(ColumnValue.databaseValue(others, as: .string))
    }
}

extension EntityRecord {
    /// Returns the primary key as JSON: that of the value, or else the key that a save in a store generated for it; null
    /// if there is neither. `store` is nil for any store.
    func key(in store: StoreIdentity?) -> JSONValue {
        let key = syncID
        return key == .null ? syncFetchedRow.generatedKey(in: store) ?? .null : key
    }

    /// Returns whether the value and its loaded related rows have these contents.
    func isUnchanged(since contents: RowContents) throws -> Bool {
        let row = try EntityRowEncoder(encoding: self)
        guard contents.key == key(in: nil),
            contents.unchangedAttributes(of: row).count == row.attributes.count,
            row.references.allSatisfy(contents.has), row.related.count == contents.related.count
        else { return false }
        return try row.related.allSatisfy { name, rows in
            guard let known = contents.related[name], known.isCertain, known.rows.count == rows.count else {
                return false
            }
            return try zip(rows, known.rows).allSatisfy { try $0.isUnchanged(since: $1) }
        }
    }
}

// MARK: - Conformances

extension FetchedRow: Hashable {
    /// Returns true, so that two values are equal if their other properties are.
    public static func == (left: FetchedRow, right: FetchedRow) -> Bool { true }

    /// Hashes nothing.
    public func hash(into hasher: inout Hasher) {}
}

extension FetchedRow: CustomReflectable {
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension FetchedRow: Codable {
    /// Creates the state of a value that was neither fetched nor saved.
    public init(from decoder: any Decoder) throws { self.init() }

    /// Encodes nothing.
    public func encode(to encoder: any Encoder) throws {}
}

// The compiler uses these methods for the `Codable` conformance of a type with `@Entity`. So the JSON of a value has no
// member for the state.

extension KeyedDecodingContainer {
    /// Returns the state of a value that was neither fetched nor saved.
    public func decode(_ type: FetchedRow.Type, forKey key: Key) throws -> FetchedRow { FetchedRow() }
}

extension KeyedEncodingContainer {
    /// Encodes nothing.
    public mutating func encode(_ value: FetchedRow, forKey key: Key) throws {}
}

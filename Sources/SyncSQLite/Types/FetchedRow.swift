import Foundation
import SyncCore

/// The row of a value, as the value was fetched or last saved. A save writes only what differs from it.
///
/// `@Entity` stores it in ``EntityRecord/syncFetchedRow``. All copies of a fetched value share one state. The state takes
/// no part in the comparison, the hash value and the encoding of a value.
public struct FetchedRow: Sendable {
    private let state: State?

    /// Creates the state of a value that was not fetched. A save writes all attributes of the value.
    public init() { state = nil }

    /// - Parameters:
    ///   - value: The fetched value with its loaded related rows. Its own state must be empty.
    ///   - store: The store that contains the row.
    init(_ value: any EntityRecord, in store: StoreIdentity) { state = State(value, store) }

    /// Returns the contents of the row; nil if the value was not fetched, or was fetched from another store.
    func contents(in store: StoreIdentity) throws -> RowContents? {
        guard let state, state.store === store else { return nil }
        let (contents, isCertain) = State.lock.withLock { (state.contents, state.isCertain) }
        var row =
            switch contents {
            case .fetched(let value): try RowContents(value)
            case .saved(let contents): contents
            }
        if !isCertain { row.setUncertain() }
        return row
    }

    /// Records that the value was written, but that the write may be rolled back.
    func setUncertain() {
        guard let state else { return }
        State.lock.withLock { state.isCertain = false }
    }

    /// Records that the value was saved.
    ///
    /// - Returns: A function that undoes the change.
    func setSaved(_ contents: RowContents) -> @Sendable () -> Void {
        guard let state else { return {} }
        return State.lock.withLock {
            let (formerContents, wasCertain) = (state.contents, state.isCertain)
            (state.contents, state.isCertain) = (.saved(contents), true)
            return { State.lock.withLock { (state.contents, state.isCertain) = (formerContents, wasCertain) } }
        }
    }

    private enum Contents: Sendable {
        /// The fetched value with its loaded related rows.
        case fetched(any EntityRecord)
        case saved(RowContents)
    }

    /// `@unchecked Sendable`: the variables are only accessed while `lock` is held.
    private final class State: @unchecked Sendable {
        /// The lock of all states. A lock in each state would make each fetched value larger.
        static let lock = NSLock()

        let store: StoreIdentity
        var contents: Contents
        var isCertain = true

        init(_ value: any EntityRecord, _ store: StoreIdentity) { (contents, self.store) = (.fetched(value), store) }
    }
}

/// Identifies an open store.
final class StoreIdentity: Sendable {}

// MARK: - RowContents

/// The attributes and links of a value.
struct RowContents: Sendable {
    /// The primary key as JSON.
    let key: JSONValue
    /// Whether the store had these contents. False after a write that may have been rolled back.
    private(set) var isCertain = true
    /// The contents of the loaded related rows, by the name of the relationship.
    private(set) var related: [String: [RowContents]]
    /// The values in the order of the type's attributes.
    private let attributes: [EntityRowEncoder.Attribute]
    private let references: [EntityRowEncoder.Reference]

    init(_ value: any EntityRecord) throws { try self.init(EntityRowEncoder(encoding: value), key: value.syncID) }

    init(_ row: EntityRowEncoder, key: JSONValue) throws {
        self.key = key
        (attributes, references) = (row.attributes, row.references)
        related = try row.related.mapValues { try $0.map { try RowContents($0) } }
    }

    mutating func setUncertain() {
        isCertain = false
        related = related.mapValues { rows in
            rows.map { row in
                var row = row
                row.setUncertain()
                return row
            }
        }
    }

    /// Returns the contents with the related rows of other contents, for a save that keeps rows that a list omits.
    func addingRelated(of other: RowContents?) -> RowContents {
        var contents = self
        contents.related.merge(other?.related ?? [:]) { own, others in
            let keys = Set(own.map(\.key))
            return own + others.filter { !keys.contains($0.key) }
        }
        return contents
    }

    /// Returns the attributes of a row that have the same values.
    func unchangedAttributes(of row: EntityRowEncoder) -> [EntityRowEncoder.Attribute] {
        guard isCertain, row.attributes.count == attributes.count else { return [] }
        return zip(row.attributes, attributes).filter { $0.isSame(as: $1) }.map(\.0)
    }

    /// Returns whether the row had this link.
    func has(_ reference: EntityRowEncoder.Reference) -> Bool {
        isCertain && references.contains { $0.column == reference.column && $0.key == reference.key }
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
    /// Returns whether the value and its loaded related rows have these contents.
    func isUnchanged(since contents: RowContents) throws -> Bool {
        let row = try EntityRowEncoder(encoding: self)
        guard contents.isCertain, contents.key == syncID,
            contents.unchangedAttributes(of: row).count == row.attributes.count,
            row.references.allSatisfy(contents.has), row.related.count == contents.related.count
        else { return false }
        return try row.related.allSatisfy { name, rows in
            guard let known = contents.related[name], known.count == rows.count else { return false }
            return try zip(rows, known).allSatisfy { try $0.isUnchanged(since: $1) }
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
    /// Creates the state of a value that was not fetched.
    public init(from decoder: any Decoder) throws { self.init() }

    /// Encodes nothing.
    public func encode(to encoder: any Encoder) throws {}
}

// The compiler uses these methods for the `Codable` conformance of a type with `@Entity`. So the JSON of a value has no
// member for the state.

extension KeyedDecodingContainer {
    /// Returns the state of a value that was not fetched.
    public func decode(_ type: FetchedRow.Type, forKey key: Key) throws -> FetchedRow { FetchedRow() }
}

extension KeyedEncodingContainer {
    /// Encodes nothing.
    public mutating func encode(_ value: FetchedRow, forKey key: Key) throws {}
}

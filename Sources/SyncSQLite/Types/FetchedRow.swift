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
        row.isCertain = isCertain
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
    var isCertain = true
    /// The primary keys of the loaded related rows, by the name of the relationship.
    private(set) var related: [String: [JSONValue]]
    private let attributes: [String: StoredValue]
    /// The keys of to-one relationships by column.
    private let references: [String: StoredValue]

    init(_ value: any EntityRecord) throws { self.init(try EntityRowEncoder(encoding: value), key: value.syncID) }

    init(_ row: EntityRowEncoder, key: JSONValue) {
        self.key = key
        attributes = Dictionary(row.attributes.map { ($0.name, $0.value) }) { first, _ in first }
        references = Dictionary(row.references.map { ($0.column, $0.key) }) { first, _ in first }
        related = row.related.mapValues { $0.map(\.syncID) }
    }

    /// Returns the contents with the related rows of other contents, for a save that keeps rows that a list omits.
    func addingRelated(of other: RowContents?) -> RowContents {
        var contents = self
        contents.related.merge(other?.related ?? [:]) { $0 + Set($1).subtracting($0) }
        return contents
    }

    /// Returns whether the store had this value of an attribute.
    ///
    /// The method compares stored forms, because `JSONEncoder` writes the members of an object in any order.
    func has(_ value: StoredValue, for attribute: String) -> Bool {
        guard isCertain, let own = attributes[attribute] else { return false }
        return ColumnValue.databaseValue(own, as: .json).isExactly(ColumnValue.databaseValue(value, as: .json))
    }

    /// Returns whether the store had this link.
    func has(_ reference: EntityRowEncoder.Reference) -> Bool {
        isCertain && references[reference.column] == reference.key
    }
}

extension EntityRecord {
    /// Returns whether the value and its loaded related rows are as they were fetched or last saved.
    func isUnchanged(in store: StoreIdentity) throws -> Bool {
        let row = try EntityRowEncoder(encoding: self)
        guard let contents = try syncFetchedRow.contents(in: store), contents.isCertain, contents.key == syncID,
            row.attributes.allSatisfy({ contents.has($0.value, for: $0.name) }),
            row.references.allSatisfy(contents.has),
            row.related.mapValues({ $0.map(\.syncID) }) == contents.related
        else { return false }
        return try row.related.values.joined().allSatisfy { try $0.isUnchanged(in: store) }
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

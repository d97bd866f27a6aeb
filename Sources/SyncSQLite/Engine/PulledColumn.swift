import SyncCore

/// A column or join table of an entity, as `sync_entity` records it.
struct PulledColumn: Hashable {
    var name: String
    /// The key paths that the column is read from, as JSON.
    let members: String
    /// Whether all rows were pulled with these key paths. If false, such a pull was requested.
    let isPulled: Bool

    /// A copy of the column with `isPulled` set to false.
    var notPulled: PulledColumn { PulledColumn(name: name, members: members, isPulled: false) }

    /// Parses a text that ``text(_:)`` returned. Returns no columns if an earlier version of the library wrote the
    /// text.
    static func all(in text: String) -> [PulledColumn] {
        guard case .array(let columns)? = try? JSONValue(parsing: text) else { return [] }
        return columns.compactMap { column in
            guard case .array(let parts) = column, parts.count == 3, case .string(let name) = parts[0],
                case .string(let members) = parts[1], case .bool(let isPulled) = parts[2]
            else { return nil }
            return PulledColumn(name: name, members: members, isPulled: isPulled)
        }
    }

    static func text(_ columns: [PulledColumn]) -> String {
        JSONValue.array(columns.map { .array([.string($0.name), .string($0.members), .bool($0.isPulled)]) }).text
    }
}

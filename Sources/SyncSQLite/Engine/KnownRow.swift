import GRDB
import SyncCore
import SyncStore

/// A row that the service has, as far as the engine knows.
struct KnownRow {
    let version: String?
    /// When the service last changed the known version, in milliseconds since 1970; nil if not known.
    let time: Int64?
    /// How the engine learned of the row.
    let origin: Origin
    /// Whether the store has the values of the known version.
    let trust: Trust

    enum Origin: String {
        /// The service returned a record of the row.
        case pulled
        /// The service returned the row only inside other records.
        case nested
        /// The row was stored before the engine first ran, and the service has not confirmed that it has the row.
        case preexisting
    }

    enum Trust: String {
        /// The store has all values of the known version. A record of that version need not be merged.
        case current
        /// The next record is merged, whatever its version.
        case recheck
        /// The row may have local edits from a time without change capture.
        case uncaptured
    }

    /// The remote ID as the service spells it, as JSON; nil if an export spells it the same.
    private let spelled: String?

    static let columns = "version, time, origin, trust, remote"

    init(_ row: ResultRow) throws {
        version = try row.decode(atIndex: 0)
        time = try row.decode(atIndex: 1)
        origin = try row.state(atIndex: 2)
        trust = try row.state(atIndex: 3)
        spelled = try row.decode(atIndex: 4)
    }

    /// Returns the remote ID as the service spells it; nil if an export spells it the same.
    func spelledID() throws -> JSONValue? { try spelled.map { try EngineTableCheck.json($0) } }

    static let isPreexisting = "\"origin\" = 'preexisting'"
    static let mayHaveUncapturedEdits = "\"trust\" = 'uncaptured'"
    static let isNestedOnly = "\"origin\" = 'nested'"
}

extension EngineLedger {
    /// A row to record as known.
    struct KnownEntry {
        let key: DatabaseValue
        let version: String?
        let time: Int64?
        /// Whether the store has all values of the version.
        var isWhole = false
        /// The remote ID as the service spells it; nil if an export spells it the same.
        let spelled: String?
    }

    /// How the engine learned that the service has a row.
    enum Source {
        /// The service returned a record, which is stored now.
        case pulled
        /// The service applied a request. The next record of the row is merged, whatever its version.
        case sent(isCreated: Bool)
        /// The service returned a record of a locally deleted row, whose deletion is sent for the version of the record.
        /// The row need not be known, since the response to its create may be lost.
        case pulledDeleted

        /// The assignments for a row that is already known.
        var update: String {
            switch self {
            case .pulled:
                """
                version = excluded.version, time = excluded.time, origin = 'pulled', trust = excluded.trust,
                  remote = excluded.remote
                WHERE origin <> 'pulled' OR version IS NOT excluded.version OR time IS NOT excluded.time
                  OR trust <> excluded.trust OR remote IS NOT excluded.remote
                """
            case .sent(let isCreated):
                """
                version = coalesce(excluded.version, version), time = coalesce(excluded.time, time), origin = 'pulled',
                  trust = 'recheck', remote = coalesce(excluded.remote, remote)
                """ + (isCreated ? ", heard = excluded.heard" : "")
            case .pulledDeleted: "version = excluded.version, time = excluded.time"
            }
        }
    }
}

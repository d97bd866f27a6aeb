import Foundation
import GRDB
import Sync
import SyncCore
import SyncSQLite
import SyncTesting

/// Takes the steps of a case in two stores, of which one keeps fingerprints, and says where they differ.
struct FingerprintCheck {
    let fingerprintCase: FingerprintCase

    func failure() async throws -> String? {
        let plain = try DataStack.inMemory(fingerprintCase.model(fingerprints: false))
        let kept = try DataStack.inMemory(fingerprintCase.model(fingerprints: true))
        // Where a table of ours is gone nobody can write, until the store is opened or synced again: no more is written by hand.
        var isDamaged = false
        for (index, step) in fingerprintCase.steps.enumerated() {
            switch step {
            case .damage: isDamaged = true
            case .sync: break
            case .writes: if isDamaged { continue }
            }
            if let problem = try await failure(of: step, plain, kept) { return "step \(index + 1): \(problem)" }
        }
        return nil
    }

    private func failure(
        of step: FingerprintCase.Step, _ plain: DataStack, _ kept: DataStack
    ) async throws -> String? {
        switch step {
        case .writes(let count, let seed): return try write(count, seed, plain, kept)
        case .damage(let seed):
            try damage(kept, seed)
            return nil
        case .sync(let entity, let records, let isLone, let options, let operations):
            let payload = records.payload(isLone: isLone)
            for round in 1...2 {
                let before = try await (plain.totalChanges(), kept.totalChanges())
                let expected = await sync(payload, entity, options, operations, plain)
                let found = await sync(payload, entity, options, operations, kept)
                if let problem = difference(expected, found) { return "round \(round): \(problem)" }
                let problem = try difference(plain, kept)
                if let problem { return "round \(round): \(problem)" }
                let after = try await (plain.totalChanges(), kept.totalChanges())
                guard case .success = found, round == 2 else { continue }
                if after.0 == before.0, after.1 != before.1 {
                    return "the second time something was written"
                }
            }
            return nil
        }
    }

    private func sync(
        _ payload: Data, _ entity: String, _ options: SyncOptions, _ operations: SyncOperations,
        _ stack: DataStack
    ) async -> Result<SyncResult, any Error> {
        do {
            return .success(
                try await Sync.changes(
                    payload, inEntity: entity, stack: stack, operations: operations, options: options))
        } catch {
            return .failure(error)
        }
    }

    private func difference(_ expected: Result<SyncResult, any Error>, _ found: Result<SyncResult, any Error>)
        -> String?
    {
        switch (expected, found) {
        case (.success(var expected), .success(var found)):
            let order: (SyncResult.UnmappedKey, SyncResult.UnmappedKey) -> Bool = {
                ($0.entity, $0.key) < ($1.entity, $1.key)
            }
            expected.unmappedKeys.sort(by: order)
            found.unmappedKeys.sort(by: order)
            found.diagnostics.removeAll { $0.kind == .fingerprintsDamaged }
            // What is passed over is not compared with what is read.
            if found.contradictions < expected.contradictions { found.contradictions = expected.contradictions }
            return expected == found ? nil : "result\n  \(found)\ninstead of\n  \(expected)"
        case (.failure(let expected), .failure(let found)):
            return "\(expected)" == "\(found)" ? nil : "error \(found) instead of \(expected)"
        default: return "\(found) instead of \(expected)"
        }
    }

    private func difference(_ plain: DataStack, _ kept: DataStack) throws -> String? {
        let own = { (name: String) in name.hasPrefix("sync_") && name != "sync_pending" }
        let expected = try plain.read { try StoreDump($0, leavingOut: own) }
        let found = try kept.read { try StoreDump($0, leavingOut: own) }
        for (table, rows) in expected.tables where found.tables[table] != rows {
            return "\(table) has \(found.tables[table] ?? []) instead of \(rows)"
        }
        return nil
    }

    private func damage(_ kept: DataStack, _ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        try kept.write { try FingerprintVandal.damage(&random, in: $0) }
    }

    private func write(_ count: Int, _ seed: UInt64, _ plain: DataStack, _ kept: DataStack) throws -> String? {
        let writes = LocalWrites(fingerprintCase.model)
        var random = SplitMix64(seed: seed)
        for _ in 0..<count {
            guard let sql = try plain.read({ try writes.statement(&random, in: $0) }) else { continue }
            let way = FingerprintVandal.Way(&random)
            let results = [plain, kept].map { stack in
                Result { try stack.write { try way.execute(sql, in: $0) } }
            }
            let failures = results.map { if case .failure(let error) = $0 { "\(error)" } else { "" } }
            if failures[0] != failures[1] { return "\(sql): \(failures[1]) instead of \(failures[0])" }
        }
        return nil
    }
}

/// The rows of tables as text.
private struct StoreDump {
    var tables: [String: [String]] = [:]

    init(_ db: Database, leavingOut isLeftOut: (String) -> Bool) throws {
        let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        for name in names where !isLeftOut(name) {
            let columns = try db.columns(in: name).map { "quote(\($0.name.quotedDatabaseIdentifier))" }
            tables[name] = try String.fetchAll(
                db,
                sql:
                    "SELECT \(columns.joined(separator: " || ', ' || ")) FROM \(name.quotedDatabaseIdentifier) ORDER BY 1"
            )
        }
    }
}

import Foundation
import GRDB
import SyncCore
import SyncStore

/// A sync that leaves out the records it knows: those of which the store has a fingerprint, and nothing they speak of
/// was written since.
///
/// Inside the transaction, because the fingerprints must be those of the rows that the plan is compared with. See
/// `Docs/Decisions/0012-fingerprints.md` for why nothing is missed.
struct FingerprintedSync {
    let data: Data
    let staging: PayloadStaging
    let use: FingerprintUse
    let model: SyncModel
    let layout: StoreLayout
    let session: SyncSession
    let db: Database
    private var options: SyncOptions { session.request.options }

    /// - Parameter read: The records that an earlier attempt found out it needs.
    /// - Throws: ``KnownPlaces/NeedsRecords`` if more are needed, ``FingerprintDamage`` if what is stored of them is not
    ///   as it was written: undo what was written, and try again.
    func sync(reading read: ToRead) throws -> SyncResult {
        let headers = try FingerprintSchema.check(in: db)
        let stored = headers.first { $0.entity == use.entity }
        guard try isWorthwhile(headers, stored) else { return try syncAll() }
        let set =
            try stored.flatMap { $0.meaning == use.meaning ? try FingerprintSet($0, in: db) : nil }
            ?? FingerprintSet(use.entity, use.meaning, replacing: stored != nil)
        let written = try forgetWritten(set, headers)
        let records = set.known(but: read)
        do {
            let payload = try staging.stage(data, options: options, knowing: records)
            let known = KnownPlaces(
                set, records, doubting: written.links(model.compiled), model.compiled, db)
            var run: RunMemory?
            let result = try session.apply(payload, run: &run, knowing: known)
            try save(set, known, headers)
            return result
        } catch is SyncError where records.usedCount > 0 {
            // It may be that the records left out would have prevented it.
            throw KnownPlaces.NeedsRecords(records: .all)
        }
    }

    /// A payload much smaller than what the fingerprints are of is sooner read than they are. Where something is known,
    /// the schema is as it was when that was taken.
    private func isWorthwhile(_ headers: [FingerprintHeader], _ stored: FingerprintHeader?) throws -> Bool {
        if try headers.allSatisfy(\.isEmpty) && HandMadeSchema(layout, db).canHideWrites() { return false }
        return data.count * 8 >= stored?.byteCount ?? 0
    }

    /// Reads every record, and keeps no fingerprints.
    func syncAll() throws -> SyncResult { try session.apply(staging.stage(data, options: options)) }

    // MARK: Fingerprints

    /// Drops what was written since, by whomever, from every set.
    private func forgetWritten(_ set: FingerprintSet, _ headers: [FingerprintHeader]) throws -> WrittenRows {
        let written = try WrittenRows(db)
        if written.isEmpty { return written }
        for index in try set.concerned(by: written, in: db) { set.drop(index) }
        try forget(written, headers)
        return written
    }

    /// - Parameter headers: What is stored, but for the set in use.
    private func forget(_ written: WrittenRows, _ headers: [FingerprintHeader]) throws {
        for header in headers where header.entity != use.entity {
            let other = try FingerprintSet(header, in: db)
            for index in try other.concerned(by: written, in: db) { other.drop(index) }
            try other.save(in: db, model.compiled)
        }
        try WrittenRows.forget(in: db)
    }

    /// What this sync wrote is what the new fingerprints are of.
    private func save(_ set: FingerprintSet, _ known: KnownPlaces, _ headers: [FingerprintHeader]) throws {
        let written = try WrittenRows(db)
        // What others' sets are by now, if the sync began with forgetting.
        if !written.isEmpty { try forget(written, headers.isEmpty ? [] : FingerprintHeader.all(in: db)) }
        // A record that had to be read has a new fingerprint, or better none.
        for index in 0..<set.count where known.records.isStaged[index] { set.drop(index) }
        try set.merge(known.new, in: db)
        try set.save(in: db, model.compiled)
        // What cannot be watched is not known.
        if set.count > 0, try !FingerprintSchema.watch(layout, in: db) { try FingerprintSchema.reset(db) }
    }
}

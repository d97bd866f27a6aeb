import Foundation
import GRDB
import SyncCore

/// The fingerprints of one entity's root records, in the order their payload had them.
final class FingerprintSet {
    /// Records that are stored together.
    private static let partSize = 2048

    let entity: String
    let hasher: RecordHasher
    /// The model and the version of the mapping by which the records were read.
    let meaning: RecordHash
    /// The keys that nothing takes, of the records that have them.
    private(set) var unmapped: [[SyncResult.UnmappedKey]] = [[]]
    private lazy var unmappedPlaces = Dictionary(
        unmapped.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    /// How many different rows the records give, by entity.
    private(set) var rowCounts: [String: Int] = [:]
    private(set) var fingerprints: [Fingerprint] = []
    /// Where the stored places are; nil for a set that is not stored.
    private var header: FingerprintHeader?
    private var loadedPlaces: RecordPlaces?
    /// Fingerprints that do not hold any more.
    private(set) var isDropped: [Bool] = []
    /// Whether it is not what is stored, besides what is dropped.
    private var isChanged = false

    /// - Parameter replacing: Whether a stored set of the entity is of no use and must not stay.
    init(_ entity: String, _ meaning: RecordHash, replacing: Bool) {
        self.entity = entity
        self.meaning = meaning
        hasher = .random()
        isChanged = replacing
    }

    var count: Int { fingerprints.count }

    /// - Parameter read: Those of its records that are to be read nevertheless.
    func known(but read: ToRead) -> KnownRecords {
        let known = KnownRecords(fingerprints.map(\.hash), lengths: fingerprints.map(\.length), hasher: hasher)
        for index in fingerprints.indices where isDropped[index] || read.contains(fingerprints[index].hash) {
            known.stage(index)
        }
        return known
    }

    // MARK: Loading

    /// The stored set that a header is of.
    ///
    /// - Throws: ``FingerprintDamage``
    init(_ header: FingerprintHeader, in db: Database) throws {
        self.header = header
        entity = header.entity
        meaning = header.meaning
        hasher = header.hasher
        unmapped = header.unmapped
        rowCounts = header.rowCounts
        try header.eachPart("records", in: db) { data in read(data[0]) }
        isDropped = Array(repeating: false, count: count)
    }

    private func read(_ data: Data) {
        data.withUnsafeBytes { raw in
            let stride = Fingerprint.wordCount * 8
            for start in Swift.stride(from: 0, through: raw.count - stride, by: stride) {
                func word(_ index: Int) -> UInt64 {
                    raw.loadUnaligned(fromByteOffset: start + 8 * index, as: UInt64.self)
                }
                fingerprints.append(
                    Fingerprint(
                        word(0), word(1), word(2), word(3), placesFrom: fingerprints.last?.places.upperBound ?? 0))
            }
        }
    }

    /// The places of all records; read only when something was written or left out.
    ///
    /// - Throws: ``FingerprintDamage``
    func places(in db: Database) throws -> RecordPlaces {
        if let loadedPlaces { return loadedPlaces }
        var places = RecordPlaces()
        places.reserve(fingerprints.last?.places.upperBound ?? 0)
        if let header {
            try header.eachPart("places", "kinds", in: db) { data in
                places.append(hashes: Self.values(data[0]), kinds: Self.values(data[1]))
            }
        }
        loadedPlaces = places
        return places
    }

    private static func values<Value: FixedWidthInteger>(_ data: Data) -> [Value] {
        guard !data.isEmpty else { return [] }
        let size = MemoryLayout<Value>.size
        return [Value](unsafeUninitializedCapacity: data.count / size) { buffer, count in
            count = data.copyBytes(to: UnsafeMutableRawBufferPointer(buffer)) / size
        }
    }

    // MARK: Changing

    func drop(_ index: Int) {
        isDropped[index] = true
    }

    /// The records that speak of what was written.
    func concerned(by written: WrittenRows, in db: Database) throws -> [Int] {
        if written.isEmpty || count == 0 { return [] }
        if written.isEverything { return Array(fingerprints.indices) }
        let table = written.hashes(hasher)
        let hashes = try places(in: db).hashes
        return fingerprints.indices.filter { index in
            fingerprints[index].places.contains { table.contains(hashes[$0]) }
        }
    }

    /// Adds new fingerprints, which take the place of those of the same row; leaves out what does not hold any more.
    func merge(_ new: FingerprintList, in db: Database) throws {
        guard !new.fingerprints.isEmpty else { return }
        let old = try places(in: db)
        var merged: [Fingerprint] = []
        var places = RecordPlaces()
        merged.reserveCapacity(count + new.fingerprints.count)
        places.reserve(old.count + new.places.count)
        func add(_ fingerprint: Fingerprint, _ source: RecordPlaces, unmapped: Int32) {
            guard fingerprint.fits else { return }
            var copy = fingerprint
            copy.unmapped = unmapped
            copy.places = places.count..<places.count + fingerprint.places.count
            places.append(source, fingerprint.places)
            merged.append(copy)
        }
        let unmapped = new.unmapped.map { Int32(clamping: place(of: $0)) }
        var byRoot: [UInt64: Int] = [:]
        if count > 0 { for (index, one) in new.fingerprints.enumerated() { byRoot[one.root] = index } }
        var isTaken = Array(repeating: false, count: new.fingerprints.count)
        for (index, fingerprint) in fingerprints.enumerated() {
            if let place = byRoot[fingerprint.root] {
                if isTaken[place] { continue }
                isTaken[place] = true
                let one = new.fingerprints[place]
                add(one, new.places, unmapped: unmapped[Int(one.unmapped)])
            } else if !isDropped[index] {
                add(fingerprint, old, unmapped: fingerprint.unmapped)
            }
        }
        for (index, one) in new.fingerprints.enumerated() where !isTaken[index] {
            add(one, new.places, unmapped: unmapped[Int(one.unmapped)])
        }
        // Records that are read each time, for one that does not fit beside them, have the fingerprints they had.
        isChanged = isChanged || merged != fingerprints || places != old
        fingerprints = merged
        loadedPlaces = places
        isDropped = Array(repeating: false, count: count)
    }

    private func place(of unmapped: [SyncResult.UnmappedKey]) -> Int {
        if let known = unmappedPlaces[unmapped] { return known }
        // A record whose keys have no place is read each time.
        guard self.unmapped.count < Fingerprint.maximumUnmapped else { return Fingerprint.maximumUnmapped }
        self.unmapped.append(unmapped)
        unmappedPlaces[unmapped] = self.unmapped.count - 1
        return self.unmapped.count - 1
    }

    // MARK: Saving

    /// Writes the set if it changed.
    func save(in db: Database, _ model: CompiledModel) throws {
        guard isChanged || isDropped.contains(true) else { return }
        let places = try places(in: db)
        let kept = fingerprints.indices.filter { !isDropped[$0] }.map { fingerprints[$0] }
        rowCounts = [:]
        for (entity, count) in Mentioned(kept.lazy.map(\.places), places).rowCounts {
            rowCounts[model.entities[entity].name] = count
        }
        try FingerprintDamage.mapped {
            var writer = try FingerprintWriter(entity, hasher, in: db)
            for start in stride(from: 0, to: kept.count, by: Self.partSize) {
                try save(kept[start..<min(start + Self.partSize, kept.count)], places, &writer)
            }
            let byteCount = kept.reduce(0) { $0 + Int($1.length) }
            try writer.finish(meaning, byteCount: byteCount, unmapped: unmapped, rowCounts: rowCounts)
        }
    }

    private func save(
        _ kept: ArraySlice<Fingerprint>, _ places: RecordPlaces, _ writer: inout FingerprintWriter
    ) throws {
        var words: [UInt64] = []
        var own = RecordPlaces()
        for fingerprint in kept {
            fingerprint.append(to: &words)
            own.append(places, fingerprint.places)
        }
        try writer.add(
            records: words.withUnsafeBytes { Data($0) }, places: own.hashes.withUnsafeBytes { Data($0) },
            kinds: own.kinds.withUnsafeBytes { Data($0) })
    }

    // MARK: Counting

    /// Everything that some records speak of.
    struct Mentioned {
        private(set) var table: HashTable
        /// How many different rows they give, by entity.
        private(set) var rowCounts: [Int: Int] = [:]

        init(_ records: some Sequence<Range<Int>>, _ places: RecordPlaces) {
            table = HashTable(capacity: places.count)
            var counts: [Int] = []
            for range in records {
                for place in range where table.insert(places.hashes[place]) && places.kinds[place] > 0 {
                    let entity = Int(places.kinds[place]) - 1
                    while counts.count <= entity { counts.append(0) }
                    counts[entity] += 1
                }
            }
            for (entity, count) in counts.enumerated() where count > 0 { rowCounts[entity] = count }
        }
    }
}

extension RecordHash {
    init?(data: Data) {
        guard data.count == 16 else { return nil }
        let words = data.withUnsafeBytes { raw in
            (raw.loadUnaligned(as: UInt64.self), raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(low: words.0, high: words.1)
    }

    var data: Data { [low, high].withUnsafeBytes { Data($0) } }
}

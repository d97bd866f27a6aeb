import SyncCore

/// A search for keys that identify all records: a single key, or a combination of two or three keys.
///
/// The search reads the records several times, and keeps only hashes of their values.
struct KeySearch {
    enum Outcome: Equatable {
        case unique([String])
        /// The search found no unique combination. `uniqueRecords` is the number of records with unique values of the
        /// best combination.
        case nearest([String], uniqueRecords: Int)
        /// There is only one record, which proves nothing.
        case tooFew
        /// No key is a possible primary key, or each possible key has the same value in all records.
        case none
    }

    typealias Records = (_ body: (JSONValue) throws -> Void) throws -> Void

    /// A possible key, or a part of one.
    private struct Column {
        var key: String
        var rank: Int
        var isUUID: Bool
        /// The number of different values; at most ``KeySearch/mostValues``.
        var values = 0
    }

    private static let mostValues = 1 << 14
    /// The largest number of columns from which combinations are formed.
    private static let mostColumns = 12
    /// The largest number of hashes to keep at once, unless a single combination has more.
    private static let mostHashes = 1 << 24
    /// The largest number of combinations, and of further single keys, whose unique records are counted.
    private static let mostCompared = 12

    private let records: Records
    private let count: Int
    private var columns: [Column]

    /// Creates a search.
    ///
    /// - Parameter records: A function that calls a closure with each record. The search calls the function several
    ///   times.
    init(_ object: ObservedObject, _ records: @escaping Records) {
        self.records = records
        count = object.count
        columns = object.keys.compactMap { key in
            guard let value = object.members[key], value.isKeyOfAll(object.count), value.scalars.fractions == 0,
                value.scalars.strings == 0 || value.scalars.integers == 0, let type = value.scalars.keyType,
                type == .integer || type == .string || type == .uuid, Self.canBeNamed(key)
            else { return nil }
            return Column(key: key, rank: Self.rank(of: key), isUUID: type == .uuid)
        }
    }

    /// Returns whether a key can be suggested for the option `--primary-key`: it is not empty, and has no comma and no
    /// dot. The option separates keys with commas.
    private static func canBeNamed(_ key: String) -> Bool { !key.isEmpty && !key.contains(",") && !key.contains(".") }

    func run() throws -> Outcome {
        guard !columns.isEmpty else { return .none }
        guard count > 1 else { return .tooFew }
        var search = self
        return try search.find()
    }

    private mutating func find() throws -> Outcome {
        var candidates: [(columns: [Int], firstRepeat: Int)] = []
        for size in 1...3 {
            if size == 2 {
                try countValues()
                selectBestColumns()
                candidates = []
                for index in columns.indices { candidates.append(([index], 0)) }
            }
            var combinations = Self.combinations(of: columns.count, size).filter(couldBeUnique)
            combinations.sort(by: isBetter)
            // The batch size limits the number of hashes in memory.
            let batch = max(1, Self.mostHashes / max(count, 1))
            while !combinations.isEmpty {
                let next = Array(combinations.prefix(batch))
                combinations.removeFirst(next.count)
                let firstRepeats = try firstRepeats(of: next)
                if let found = zip(next, firstRepeats).first(where: { $0.1 == nil }) {
                    return .unique(found.0.map { columns[$0].key })
                }
                if size > 1 { candidates += zip(next, firstRepeats).map { ($0, $1 ?? count) } }
            }
        }
        return try nearest(candidates)
    }

    // MARK: Passes

    /// Returns, for each combination, the index of the first record with the values of an earlier record; nil if there
    /// is none.
    private func firstRepeats(of combinations: [[Int]]) throws -> [Int?] {
        var seen = [Set<UInt64>](repeating: [], count: combinations.count)
        var repeats = [Int?](repeating: nil, count: combinations.count)
        var open = Array(combinations.indices)
        var index = 0
        try eachHash { hashes in
            guard !open.isEmpty else { return }
            var hasClosed = false
            for place in open where !seen[place].insert(Self.combined(combinations[place], hashes)).inserted {
                repeats[place] = index
                seen[place] = []
                hasClosed = true
            }
            if hasClosed { open.removeAll { repeats[$0] != nil } }
            index += 1
        }
        return repeats
    }

    private mutating func countValues() throws {
        var seen = [Set<UInt64>](repeating: [], count: columns.count)
        try eachHash { hashes in
            for (column, hash) in hashes.enumerated() where seen[column].count < Self.mostValues {
                seen[column].insert(hash)
            }
        }
        for column in columns.indices { columns[column].values = seen[column].count }
    }

    /// Keeps the columns with the most different values, and drops constant columns.
    private mutating func selectBestColumns() {
        let varied = columns.filter { $0.values > 1 }
        let kept = Set(varied.sorted { $0.values > $1.values }.prefix(Self.mostColumns).map(\.key))
        columns = varied.filter { kept.contains($0.key) }
    }

    private func nearest(_ candidates: [(columns: [Int], firstRepeat: Int)]) throws -> Outcome {
        guard !columns.isEmpty else { return .none }
        let last = candidates.sorted { $0.firstRepeat > $1.firstRepeat }.prefix(Self.mostCompared).map(\.columns)
        let compared = last + columns.indices.map { [$0] }.filter { !last.contains($0) }.prefix(Self.mostCompared)
        let alone = try uniqueRecordCounts(of: compared)
        let best = zip(compared, alone).min { left, right in
            left.1 != right.1 ? left.1 > right.1 : isBetter(left.0, right.0)
        }
        guard let best else { return .none }
        return .nearest(best.0.map { columns[$0].key }, uniqueRecords: best.1)
    }

    private func uniqueRecordCounts(of combinations: [[Int]]) throws -> [Int] {
        var counts: [Int] = []
        var rest = combinations[...]
        while !rest.isEmpty {
            let next = Array(rest.prefix(max(1, Self.mostHashes / max(count, 1))))
            rest = rest.dropFirst(next.count)
            var seen = [[UInt64: Bool]](repeating: [:], count: next.count)
            try eachHash { hashes in
                for (place, combination) in next.enumerated() {
                    let hash = Self.combined(combination, hashes)
                    seen[place][hash] = seen[place][hash] == nil
                }
            }
            counts += seen.map { $0.values.count { $0 } }
        }
        return counts
    }

    private func eachHash(_ body: ([UInt64]) throws -> Void) throws {
        let places = Dictionary(columns.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        var hashes = [UInt64](repeating: 0, count: columns.count)
        try records { record in
            guard case .object(let members) = record else { return }
            for member in members {
                guard let place = places[member.key], let text = member.value.keyText else { continue }
                hashes[place] = Self.hash(columns[place].isUUID ? text.lowercased() : text)
            }
            try body(hashes)
        }
    }

    /// Hashes the bytes, because texts that look alike but have different bytes are different keys.
    private static func hash(_ text: String) -> UInt64 {
        var hasher = Hasher()
        for byte in text.utf8 { hasher.combine(byte) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private static func combined(_ columns: [Int], _ hashes: [UInt64]) -> UInt64 {
        if columns.count == 1 { return hashes[columns[0]] }
        var hasher = Hasher()
        for column in columns { hasher.combine(hashes[column]) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    // MARK: Ranking

    private static func combinations(of count: Int, _ size: Int) -> [[Int]] {
        guard size > 1 else { return (0..<count).map { [$0] } }
        return combinations(of: count, size - 1).flatMap { start in
            ((start.last ?? -1) + 1..<max(count, (start.last ?? -1) + 1)).map { start + [$0] }
        }
    }

    /// Returns false if a combination certainly has fewer possible values than there are records.
    private func couldBeUnique(_ combination: [Int]) -> Bool {
        guard combination.count > 1 else { return true }
        var product = 1
        for column in combination {
            let values = columns[column].values
            if values == Self.mostValues { return true }
            product = product.multipliedReportingOverflow(by: values).partialValue
            if product >= count { return true }
        }
        return false
    }

    /// Returns whether a combination is preferred to another one: fewer columns first, then names that look like keys,
    /// then the order of the columns.
    private func isBetter(_ left: [Int], _ right: [Int]) -> Bool {
        if left.count != right.count { return left.count < right.count }
        let ranks = (left.reduce(0) { $0 + columns[$1].rank }, right.reduce(0) { $0 + columns[$1].rank })
        return ranks.0 != ranks.1 ? ranks.0 < ranks.1 : left.lexicographicallyPrecedes(right)
    }

    private static let strong: Set<String> = ["id", "uuid", "guid", "key"]
    private static let good: Set<String> = [
        "code", "slug", "isbn", "iso", "sku", "symbol", "number", "no", "nr", "handle", "login", "username", "email",
    ]
    private static let fair: Set<String> = ["name", "title", "version", "url", "path", "date", "year", "time"]

    /// Returns a rank for a name; 0 for the names that look most like keys.
    private static func rank(of key: String) -> Int {
        let words = Inflection.snakeCase(key).lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        guard let last = words.last else { return 4 }
        if strong.contains(last) { return 0 }
        if good.contains(last) || last.hasSuffix("id") || last.hasSuffix("code") { return 1 }
        return fair.contains(last) || last.hasSuffix("name") ? 2 : 3
    }
}

// Detects objects that are used as dictionaries of records: {"de": {"text": …}, "fr": {"text": …}}.
extension ObservedObject {
    /// An object with at least this number of keys may be a dictionary, whose keys are data.
    private static let manyNames = 4

    /// Returns the merged observations of the objects under all keys, if the keys are data; nil otherwise. The objects
    /// under the keys must have the same keys and no ID, and look like records. In addition, there must be at least
    /// four keys, or a key that some objects lack, or a key that is not a word.
    ///
    /// An object with an ID is identified by the ID, so its key is an ordinary object key.
    func recordsOfMembers() -> ObservedObject? {
        guard keys.count > 1, areNamesData else { return nil }
        let records = ObservedObject()
        var common: Set<String>?
        for key in keys {
            guard let value = members[key], let object = value.object, value.singles > 0,
                value.singles + value.scalars.nulls == value.count, !object.keys.isEmpty
            else { return nil }
            if KeyNames.common.contains(where: { object.members[$0] != nil }) { return nil }
            let found = Set(object.keys)
            if let known = common, known != found { return nil }
            common = common ?? found
        }
        for key in keys {
            if let object = members[key]?.object { records.add(object) }
        }
        return records.isRecordLike ? records : nil
    }

    private var areNamesData: Bool {
        keys.count >= Self.manyNames || keys.contains { !Self.isWord($0) }
            || keys.contains { members[$0]?.count ?? 0 < count }
    }

    /// Whether the objects look like records: all keys are words, and an object has at least half of the keys on
    /// average.
    var isRecordLike: Bool {
        guard !keys.isEmpty, keys.allSatisfy(Self.isWord) else { return false }
        let values = members.values.reduce(0) { $0 + $1.count }
        return values * 2 >= keys.count * count
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.first, first.isLetter || first == "_" || first == "@" else { return false }
        return key.dropFirst().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }

    /// The preferred name of the attribute for the object keys of the records. If possible, no key of the records gets
    /// the same name.
    var objectKeyAttribute: String {
        let taken = Set(keys.map { Inflection.memberName($0).lowercased() })
        return ["key", "name", "memberName"].first { !taken.contains($0.lowercased()) } ?? "nameOfMember"
    }
}

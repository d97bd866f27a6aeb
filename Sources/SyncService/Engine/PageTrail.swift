import SyncCore

/// The pages of a list that a run went through: a list must have an end.
///
/// Rows that change while pages are read shift the others, so that a page may begin as the one before it did, or have its rows once more: it
/// is read on. Pages that go round in a circle have the same rows again and again, whatever tells the next one.
struct PageTrail {
    private static let longest = 1_000_000
    /// So often a page comes back before it is a circle. A list that is read anew because its rows moved has each page three times at
    /// most.
    private static let mostReturns = 3

    private let name: String
    private(set) var page: String?
    private var seen: Set<String>
    /// How many pages had rows.
    private var count = 0
    /// A page to compare those behind it with, and until which page: every circle has one that stays for two rounds (Brent).
    private var mark: Int?
    private var markEnd = 1
    private var returns = 0

    /// - Parameters:
    ///   - name: What the list is of.
    ///   - page: Where to begin; nil for its first page.
    init(_ name: String, from page: String? = nil) {
        self.name = name
        self.page = page
        seen = page.map { [$0] } ?? []
    }

    /// Whether there is another page.
    ///
    /// - Parameters:
    ///   - next: What the page says that comes after it.
    ///   - ids: The rows of the page.
    /// - Throws: ``ServiceFailure`` `malformed` for pages that were there before.
    mutating func goes(on next: String?, after ids: [JSONValue]) throws -> Bool {
        guard let next else { return false }
        guard seen.insert(next).inserted else {
            throw ServiceFailure.malformed("its pages of \(name) go round in a circle: '\(next)'")
        }
        guard !isCircle(ids) else {
            throw ServiceFailure.malformed(
                "its pages of \(name) go round in a circle: the page that begins with \(ids.first ?? .null) came "
                    + "\(Self.mostReturns + 1) times")
        }
        guard seen.count < Self.longest else { throw ServiceFailure.malformed("its list of \(name) has no end") }
        page = next
        return true
    }

    private mutating func isCircle(_ ids: [JSONValue]) -> Bool {
        guard !ids.isEmpty else { return false }
        let rows = ids.hashValue
        count += 1
        if rows == mark { returns += 1 }
        if returns == Self.mostReturns { return true }
        if count == markEnd {
            markEnd *= 2
            if rows != mark { (mark, returns) = (rows, 0) }
        }
        return false
    }
}

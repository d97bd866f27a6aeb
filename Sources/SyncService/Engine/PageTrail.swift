/// The pages of a list that a run went through: a list must have an end.
struct PageTrail {
    private static let longest = 1_000_000

    private let name: String
    private(set) var page: String?
    private var seen: Set<String>

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
    /// - Parameter next: What the page says that comes after it.
    /// - Throws: ``ServiceFailure`` `malformed` for a page that was there before.
    mutating func goes(on next: String?) throws -> Bool {
        guard let next else { return false }
        guard seen.insert(next).inserted else {
            throw ServiceFailure.malformed("its pages of \(name) go round in a circle: '\(next)'")
        }
        guard seen.count < Self.longest else { throw ServiceFailure.malformed("its list of \(name) has no end") }
        page = next
        return true
    }
}

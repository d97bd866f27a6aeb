import Testing

@testable import SyncCore

@Suite("Similar names")
struct SimilarNameTests {
    @Test(
        "A name is suggested if few letters differ, or only case and separators",
        arguments: [
            ("qurey", "query"), ("Usr", "User"), ("users", "User"), ("first_name", "firstName"),
            ("FIRSTNAME", "firstName"),
            ("markdwn", "markdown"), ("comapny", "company"), ("ix", "id"),
        ])
    func suggestsSimilarName(written: String, meant: String) {
        let names = ["id", "firstName", "company", "User", "query", "import", "markdown"]
        #expect(SimilarName.nearest(to: written, among: names) == meant)
        #expect(SimilarName.hint(for: written, among: names) == "; did you mean '\(meant)'?")
    }

    @Test("No name is suggested if most letters differ", arguments: ["", "x", "xy", "wings", "Robot", "zzzzzzzzzzzz"])
    func suggestsNothingForDistantName(written: String) {
        #expect(SimilarName.nearest(to: written, among: ["id", "firstName", "company", "User"]) == nil)
        #expect(SimilarName.hint(for: written, among: ["id", "firstName", "company", "User"]) == "")
    }

    @Test("The nearest name is suggested, or the first of those equally near")
    func suggestsNearestName() {
        #expect(SimilarName.nearest(to: "note", among: ["notes", "vote", "noted"]) == "notes")
        #expect(SimilarName.nearest(to: "titel", among: ["tile", "title"]) == "title")
    }

    @Test(
        "The edit distance counts insertions, deletions, substitutions and swaps of neighbours",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("ab", "ba", 1),
            ("abcd", "badc", 2),
            ("ca", "abc", 3), ("kitten", "sitting", 3), ("gârçon", "garcon", 2), ("e\u{301}a", "aé", 1),
            ("👩‍👩‍👧x", "x👩‍👩‍👧", 1),
        ])
    func editDistance(left: String, right: String, count: Int) {
        #expect(SimilarName.distance(Array(left), Array(right)) == count)
        #expect(SimilarName.distance(Array(right), Array(left)) == count)
    }

    @Test("Very long names are not compared")
    func longNamesAreNotCompared() {
        let name = String(repeating: "a", count: 100_000)
        #expect(SimilarName.nearest(to: name, among: [name + "b"]) == nil)
    }
}

import Testing

@testable import SyncCore

@Suite("A name that is like the one written")
struct SimilarNameTests {
    @Test(
        "is found where few letters differ, or only case and separators",
        arguments: [
            ("qurey", "query"), ("Usr", "User"), ("users", "User"), ("first_name", "firstName"),
            ("FIRSTNAME", "firstName"),
            ("markdwn", "markdown"), ("comapny", "company"), ("ix", "id"),
        ])
    func near(written: String, meant: String) {
        let names = ["id", "firstName", "company", "User", "query", "import", "markdown"]
        #expect(SimilarName.nearest(to: written, among: names) == meant)
        #expect(SimilarName.hint(for: written, among: names) == "; did you mean '\(meant)'?")
    }

    @Test("is none where most letters differ", arguments: ["", "x", "xy", "wings", "Robot", "zzzzzzzzzzzz"])
    func far(written: String) {
        #expect(SimilarName.nearest(to: written, among: ["id", "firstName", "company", "User"]) == nil)
        #expect(SimilarName.hint(for: written, among: ["id", "firstName", "company", "User"]) == "")
    }

    @Test("The nearest of several is meant, the first of those equally near")
    func several() {
        #expect(SimilarName.nearest(to: "note", among: ["notes", "vote", "noted"]) == "notes")
        #expect(SimilarName.nearest(to: "titel", among: ["tile", "title"]) == "title")
    }

    @Test(
        "The distance is the number of letters put in, left out, replaced or swapped with the next",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("ab", "ba", 1),
            ("abcd", "badc", 2),
            ("ca", "abc", 3), ("kitten", "sitting", 3), ("gârçon", "garcon", 2), ("e\u{301}a", "aé", 1),
            ("👩‍👩‍👧x", "x👩‍👩‍👧", 1),
        ])
    func distance(left: String, right: String, count: Int) {
        #expect(SimilarName.distance(Array(left), Array(right)) == count)
        #expect(SimilarName.distance(Array(right), Array(left)) == count)
    }

    @Test("Very long names are not compared")
    func long() {
        let name = String(repeating: "a", count: 100_000)
        #expect(SimilarName.nearest(to: name, among: [name + "b"]) == nil)
    }
}

import Testing

@testable import SyncCore

@Suite("Remote key paths")
struct RemoteKeyPathTests {
    @Test(
        "A key path is split at dots, except after a backslash",
        arguments: [
            ("a", ["a"]), ("a.b", ["a", "b"]), (#"a\.b"#, ["a.b"]), (#"a.b\.c.d"#, ["a", "b.c", "d"]),
            (#"@odata\.etag"#, ["@odata.etag"]), (#"a\\.b"#, [#"a\"#, "b"]), (#"a\\\.b"#, [#"a\.b"#]),
            (#"a\b"#, [#"a\b"#]), (#"a\"#, [#"a\"#]), ("", [""]), (".", ["", ""]), (#"\."#, ["."]),
            ("é.ü", ["é", "ü"]),
        ])
    func splitsAtDots(text: String, keys: [String]) { #expect(RemoteKeyPath.keys(text) == keys) }

    @Test(
        "A written key path reads as the same keys",
        arguments: [
            ["a"], ["a.b"], ["a", "b"], [#"a\"#, "b"], [#"a\"#], [#"a\.b"#], [#"a\\"#, #"\"#], [#"\\."#, "."],
            ["", ""],
            ["a..b", "c"],
        ])
    func roundTrips(keys: [String]) { #expect(RemoteKeyPath.keys(RemoteKeyPath.text(keys)) == keys) }

    @Test("A key without a dot needs no escapes", arguments: ["a", "a_b", "@type", #"a\b"#, "é"])
    func plainKeysNeedNoEscapes(key: String) { #expect(RemoteKeyPath.escaped(key) == key) }
}

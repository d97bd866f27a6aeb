import Foundation
import Testing

@testable import syncdb

@Suite("Gzip input")
struct GzipTests {
    private static let json = #"[{"id": 1, "first_name": "Ada"}, {"id": 2}]"#

    /// Returns the name of a file compressed by the system's `gzip`.
    private func packed(_ text: String, as name: String, in sandbox: Sandbox) throws -> String {
        let plain = try sandbox.file("plain", text)
        let run = try Program.run(
            ["-c", "gzip -n -c \(plain) > \(name) && rm \(plain)"], executable: URL(fileURLWithPath: "/bin/sh"),
            in: sandbox.folder)
        try #require(run.status == 0, "\(run.errors)")
        return name
    }

    private func bytes(_ name: String, in sandbox: Sandbox) throws -> Data {
        try Data(contentsOf: sandbox.folder.appendingPathComponent(name))
    }

    @Test("A .json.gz file is imported as the file it contains")
    func jsonIsUnpacked() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers(packed(Self.json, as: "users.json.gz", in: sandbox))
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "2")
    }

    @Test("A .ndjson.gz file has a record per line")
    func ndjsonIsUnpacked() throws {
        let sandbox = try Sandbox()
        let file = try packed("{\"id\": 1}\n{\"id\": 2}\n", as: "users.ndjson.gz", in: sandbox)
        #expect(try sandbox.importUsers(file).status == 0)
        #expect(try sandbox.count("User") == "2")
    }

    @Test("Compressed data is recognized by its first bytes, on standard input and under any name")
    func firstBytesAreRecognized() throws {
        let sandbox = try Sandbox()
        let data = try bytes(try packed(Self.json, as: "users.dump", in: sandbox), in: sandbox)
        #expect(try sandbox.importUsers("users.dump").status == 0)
        let again = try Program.run(
            ["diff", "-", "--entity", "User", "--database", "app.sqlite"], in: sandbox.folder, inputData: data)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasSuffix("User           0        0        0          2\n"))
    }

    @Test("Several gzip members are read as one, and zeros after the last one are ignored")
    func severalMembers() throws {
        let sandbox = try Sandbox()
        let first = try bytes(try packed("{\"id\": 1}\n", as: "1.gz", in: sandbox), in: sandbox)
        let second = try bytes(try packed("{\"id\": 2}\n", as: "2.gz", in: sandbox), in: sandbox)
        try (first + second + Data(count: 512)).write(to: sandbox.folder.appendingPathComponent("users.ndjson.gz"))
        #expect(try sandbox.importUsers("users.ndjson.gz").status == 0)
        #expect(try sandbox.count("User") == "2")
    }

    @Test(
        "Truncated gzip data is an error with the file's name, and creates no database",
        arguments: [0, 5, 20, -1, -4, -9])
    func truncatedData(length: Int) throws {
        let sandbox = try Sandbox()
        let whole = try bytes(try packed(Self.json, as: "whole", in: sandbox), in: sandbox)
        let part = length < 0 ? whole.dropLast(-length) : whole.prefix(length)
        try part.write(to: sandbox.folder.appendingPathComponent("users.json.gz"))
        let run = try sandbox.importUsers("users.json.gz")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: users.json.gz: the gzip data is truncated"), "\(run.errors)")
        #expect(try sandbox.files == ["users.json.gz", "whole"])
    }

    @Test("Damage in any byte of the content or the checksum is an error")
    func damagedData() throws {
        let sandbox = try Sandbox()
        let whole = try bytes(try packed(Self.json, as: "whole", in: sandbox), in: sandbox)
        for place in 10..<whole.count {
            var data = whole
            data[place] ^= 0x55
            #expect(throws: Gzip.Failure.self, "byte \(place)") { try Gzip.unpack(data, maximumSize: 1 << 20) }
        }
        #expect(throws: Gzip.Failure.self) { try Gzip.unpack(whole + Data("rest".utf8), maximumSize: 1 << 20) }
        #expect(try Gzip.unpack(whole, maximumSize: Self.json.utf8.count) == Data(Self.json.utf8))
    }

    @Test("A plain file with a name that ends in .gz is an error")
    func plainDataNamedGzip() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers(sandbox.file("users.json.gz", Self.json))
        #expect(run.status == 1)
        #expect(run.errors.contains("users.json.gz: the gzip data is corrupt"))
    }

    @Test("Data that unpacks to more than --max-size is an error that names the option")
    func dataAboveMaximumSize() throws {
        let sandbox = try Sandbox()
        let text = "[" + String(repeating: " ", count: 3_000_000) + "]"
        let file = try packed(text, as: "users.json.gz", in: sandbox)
        let run = try sandbox.importUsers(file, "--max-size", "1M")
        #expect(run.status == 1)
        #expect(
            run.errors.contains("users.json.gz: larger than 1M after decompression; raise the limit with --max-size"))
        #expect(try sandbox.files == ["users.json.gz"])
        #expect(try sandbox.importUsers(file, "--max-size", "3M").status == 0)
    }

    @Test(
        "--max-size takes units that are powers of 1024",
        arguments: [
            ("1000", 1000), ("4k", 4096), ("10M", 10 << 20), ("4G", 4 << 30), ("2GB", 2 << 30), ("1TiB", 1 << 40),
        ])
    func sizesHaveUnits(text: String, bytes: Int) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test("--max-size rejects other values", arguments: ["", "0", "-1", "G", "4X", "1.5G", "9999999999T", "B", "4 G"])
    func otherSizesAreRejected(text: String) throws {
        #expect(ByteCount(argument: text) == nil)
        let sandbox = try Sandbox()
        #expect(try sandbox.importUsers(Sandbox.day1, "--max-size=\(text)").status == 2)
    }
}

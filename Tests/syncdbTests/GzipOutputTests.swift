import Foundation
import Testing

@testable import syncdb

@Suite("Gzip output")
struct GzipOutputTests {
    @Test(
        "An output whose name ends in .gz is compressed, and imports again",
        arguments: ["users.json.gz", "USERS.NDJSON.GZ"])
    func outputIsCompressed(name: String) throws {
        let sandbox = try Sandbox.withUsers()
        let form = name.hasPrefix("users") ? "json" : "ndjson"
        let plain = try sandbox.syncdb("export", "User", "-d", "app.sqlite", "--format", form).output
        let run = try sandbox.syncdb("export", "User", "-d", "app.sqlite", "--format", form, "--output", name)
        #expect(run.status == 0 && run.output == "", "\(run.errors)")
        let packed = try Data(contentsOf: sandbox.folder.appendingPathComponent(name))
        #expect(Gzip.isGzip(packed))
        #expect(try Gzip.unpack(packed, maximumSize: 1 << 20) == Data(plain.utf8))
        let unpacked = try sandbox.shell("gzip -dc < '\(name)'")
        #expect(unpacked.output == plain)
        let before = try sandbox.databaseDump()
        #expect(try sandbox.syncdb("import", name, "--entity", "User", "-d", "app.sqlite").status == 0)
        #expect(try sandbox.databaseDump() == before)
    }

    @Test("The same rows give the same compressed bytes")
    func sameRowsGiveSameBytes() throws {
        let sandbox = try Sandbox.withUsers()
        for name in ["a.json.gz", "b.json.gz"] {
            _ = try sandbox.syncdb("export", "User", "-d", "app.sqlite", "--output", name)
        }
        #expect(
            try Data(contentsOf: sandbox.folder.appendingPathComponent("a.json.gz"))
                == Data(contentsOf: sandbox.folder.appendingPathComponent("b.json.gz")))
    }

    @Test("A schema file whose name ends in .gz is compressed")
    func schemaIsCompressed() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.syncdb("schema", "convert", Sandbox.model, "--output", "model.json.gz")
        #expect(run.status == 0, "\(run.errors)")
        let packed = try Data(contentsOf: sandbox.folder.appendingPathComponent("model.json.gz"))
        let plain = try sandbox.syncdb("schema", "convert", Sandbox.model).output
        #expect(try Gzip.unpack(packed, maximumSize: 1 << 20) == Data(plain.utf8))
    }

    @Test("A failed compressed export keeps the old file")
    func failedExportKeepsTheFile() throws {
        let sandbox = try Sandbox.withUsers()
        _ = try sandbox.file("users.json.gz", "old")
        #expect(try sandbox.syncdb("export", "Robot", "-d", "app.sqlite", "--output", "users.json.gz").status == 1)
        #expect(
            try String(contentsOf: sandbox.folder.appendingPathComponent("users.json.gz"), encoding: .utf8) == "old")
    }

    @Test("Data that is compressed in buffers unpacks to the same bytes", arguments: [0, 1, 65_536, 1_000_000])
    func compressedDataIsUnpacked(size: Int) throws {
        var generator = SystemRandomNumberGenerator()
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) ^ UInt8(generator.next() & 3) })
        let deflation = try Deflation()
        var packed = Data()
        var rest = data
        while !rest.isEmpty {
            packed += deflation.pack(rest.prefix(70_001))
            rest = rest.dropFirst(70_001)
        }
        packed += deflation.finish()
        #expect(try Gzip.unpack(packed, maximumSize: 2_000_000) == data)
    }
}

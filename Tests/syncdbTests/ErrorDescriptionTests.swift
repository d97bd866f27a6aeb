import Foundation
import Testing

@testable import syncdb

@Suite("What the program's own errors say of themselves")
struct ErrorDescriptionTests {
    @Test(
        "localizedDescription is in words",
        arguments: [
            (UsageError("no model"), "no model"),
            (Interruption(signal: SIGINT, outcome: "nothing was written"), "interrupted; nothing was written"),
            (Gzip.Failure.truncated, "the gzip data ends too early; it was not written or sent whole"),
            (Gzip.Failure.corrupt("crc"), "the gzip data is damaged (crc)"),
            (Gzip.Failure.tooLarge, "the gzip data unpacks to more than is allowed"),
        ] as [(any Error, String)])
    func words(error: any Error, text: String) { #expect(error.localizedDescription == text) }
}

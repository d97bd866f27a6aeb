import Foundation
import Testing

/// The code fences of a page of `Docs` that name a file of these tests.
struct GuidePage {
    struct Fence {
        let file: String
        let text: String
    }

    let text: String
    let fences: [Fence]
    private static let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()

    init(_ name: String) throws {
        let page = Self.tests.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Docs/\(name)")
        text = try String(contentsOf: page, encoding: .utf8)
        var fences: [Fence] = []
        var open: (file: String, lines: [String])?
        for line in text.components(separatedBy: "\n") {
            if line == "```", let fence = open {
                fences.append(Fence(file: fence.file, text: fence.lines.joined(separator: "\n")))
                open = nil
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("```swift "), line.hasSuffix(".swift") {
                open = (String(line.dropFirst("```swift ".count)), [])
            }
        }
        self.fences = fences
    }

    static func source(_ file: String) throws -> String {
        try String(contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
    }

    /// Returns all fences of a file in order, without blank lines.
    func whole(_ file: String) -> String {
        Self.squeezed(fences.filter { $0.file == file }.map(\.text).joined(separator: "\n"))
    }

    static func squeezed(_ text: String) -> String {
        text.components(separatedBy: "\n").filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
    }
}

@Suite("Guides to services")
struct GuideTests {
    @Test("The guide shows the whole service that passes the conformance suite and no other code")
    func guide() throws {
        let page = try GuidePage("AddingAService.md")
        #expect(page.whole("JSONAPIService.swift") == GuidePage.squeezed(try GuidePage.source("JSONAPIService.swift")))
        let others = page.fences.filter { $0.file != "JSONAPIService.swift" }
        #expect(!others.isEmpty)
        for fence in others {
            #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.file): \(fence.text)")
        }
    }

    @Test("The walkthroughs show all code of their tests and no other code")
    func walkthroughs() throws {
        let page = try GuidePage("Walkthroughs.md")
        let files = Set(page.fences.map(\.file))
        #expect(files == ["TutorialTests.swift", "PodsTutorialTests.swift"])
        func lines(_ text: String) -> [String] { GuidePage.squeezed(text).components(separatedBy: "\n").sorted() }
        for file in files {
            let source = try GuidePage.source(file)
            for fence in page.fences where fence.file == file {
                #expect(source.contains(fence.text), "\(fence.text)")
            }
            #expect(lines(page.whole(file)) == lines(source), "\(file)")
        }
    }
}

import AfarSerializers
import Foundation
import Testing

/// Encoding declarations in HTML pages.
@Suite struct HTMLPrescanTests {
    private func name(_ page: String) throws -> String? {
        let text = try TextDecoding.automatic.decode(Data(page.utf8), contentType: "text/html")
        return text.reason == .declaration ? text.encoding.name : nil
    }

    @Test(arguments: [
        "<meta charset=koi8-r>", "<!DOCTYPE html><html><head><META CHARSET='KOI8-R' />", "<meta/charset=\"koi8-r\">",
        "<meta name=x content='charset=big5'><meta charset = koi8-r >", "<meta charset=martian><meta charset=koi8-r>",
        "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>",
        "<meta content='text/html; charset = \"koi8-r\" ' http-equiv='content-type'>",
        "<meta http-equiv=content-type content='charset charset=koi8-r;x'>",
        "<!-- <meta charset=big5> --><meta charset=koi8-r>", "<!--><meta charset=koi8-r>",
        "</p <meta charset=big5><meta charset=koi8-r>",
        "<a href='<meta charset=big5>'><meta charset=koi8-r>", "<? <meta charset=big5><meta charset=koi8-r>",
        "<meta charset=koi8-r charset=big5>", "<?xml version='1.0' encoding='koi8-r'?><html>",
        "<p <meta charset=big5><meta charset=koi8-r>",
    ])
    func aPageDeclaresItsEncoding(page: String) throws {
        #expect(try name(page) == "KOI8-R")
    }

    @Test(arguments: [
        "", "<", "<meta", "<meta charset", "<meta charset=", "<meta charset='koi8-r", "<metacharset=koi8-r>",
        "<!-- <meta charset=koi8-r>",
        "<meta content='text/html; charset=koi8-r'>", "<meta http-equiv=refresh content='charset=koi8-r'>",
        "<meta http-equiv=content-type content='charset=\"koi8-r'>", "<meta charset=martian>",
        "\(String(repeating: " ", count: 1020))<meta charset=koi8-r>", "<meta charset=koi8-r",
        "<meta charset='koi8-r' ",
        // The first 1,024 bytes end within the label.
        "\(String(repeating: " ", count: 1004))<meta charset=koi8-ru>",
        "\(String(repeating: " ", count: 1003))<meta charset=koi8-r >",
    ])
    func aPageWithoutADeclarationIsUTF8(page: String) throws {
        #expect(try name(page) == nil)
    }

    @Test func aTagCanEndAtThe1024thByte() throws {
        #expect(try name("\(String(repeating: " ", count: 1003))<meta charset=koi8-r>") == "KOI8-R")
    }

    @Test func impossibleDeclarationsAreReplaced() throws {
        #expect(try name("<meta charset=utf-16>") == "UTF-8")
        #expect(try name("<meta charset=x-user-defined>") == "windows-1252")
    }

    @Test func theHeaderTakesPrecedence() throws {
        let page = Data("<meta charset=koi8-r>".utf8)
        let text = try TextDecoding.automatic.decode(page, contentType: "text/html; charset=big5")
        #expect(text.encoding == .big5)
        #expect(text.reason == .charset)
    }

    @Test func aLongPageOfIncompleteTagsIsScannedQuickly() throws {
        for piece in ["<", "<!--", "<meta ", "<a b='", "</", "<meta charset=x content=charset charset "] {
            let page = String(repeating: piece, count: 100_000)
            #expect(try name(page) == nil)
        }
    }
}

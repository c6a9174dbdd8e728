# Homebrew, on Linux: brew install --formula ./arbiter.rb
class Arbiter < Formula
  desc "Runs matches between chess engines and reports the results with confidence intervals"
  homepage "@REPOSITORY@"
  url "@URL@"
  sha256 "@SHA256@"
  license "GPL-3.0-or-later"

  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "bin/arbiter"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/arbiter"
    fish_completion.install "share/fish/vendor_completions.d/arbiter.fish"
    zsh_completion.install "share/zsh/site-functions/_arbiter"
    doc.install Dir["share/doc/arbiter/*"]
  end

  test do
    system bin/"arbiter", "match", "bundled", "bundled:material", "--each", "nodes=200", "--pairs", "2"
  end
end

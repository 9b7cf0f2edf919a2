# The formula of a tap. A release sets url and sha256, those of the source archive on PyPI; `brew update-python-resources
# esr` then writes the resources, one for each package that pip installs.
class Esr < Formula
  include Language::Python::Virtualenv

  desc "Search for sentences of news, embedded or in Elasticsearch"
  homepage "https://pypi.org/project/esr/"
  url "https://files.pythonhosted.org/packages/source/e/esr/esr-0.3.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "numpy"
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
  end

  test do
    (testpath/"news.jsonl").write <<~JSON
      {"id": "a", "text": "Relief goods reached the town after the earthquake."}
    JSON
    system bin/"esr", "load", "news.jsonl", "--index", "index"
    assert_match "Relief goods", shell_output("#{bin}/esr search earthquake --index index")
  end
end
